# Who indents by tabs gets tabs.
# >>> f(2)
def f(n):
	if n > 1:
		n -= 1
		# why
		n *= 3
	return n

# ------------------------------------------------------------ becomes
def f(n):
	def if_body():
		nonlocal n
		n -= 1
		# why
		n *= 3
	ag__.if_stmt(n > 1, if_body, None, ('n',))
	return n
