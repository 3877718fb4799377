# What is generated is indented as the user indents.
# >>> g(2)
def g(n):
  total = 0
  while n > 0:
    total += n
    n -= 1
  return total

# ------------------------------------------------------------ becomes
def g(n):
  total = 0

  def loop_test():
    return n > 0

  def loop_body():
    nonlocal n, total
    total += n
    n -= 1
  ag__.while_stmt(loop_test, loop_body, ('n', 'total'))
  return total
