# What no converter touches is the user's own text, to the letter.
# >>> describe({"b": 2, "a": 1})
def describe( table , indent = 2 ):
    header   = ['name',   'value']      # aligned by hand
    lines    = [ '%-5s|%5s' % ( header[0], header[1] ) ]
    width    = 11
    rows     = [ ( k,v ) for k,v in table.items( ) ]
    rows    += [ ( 'sum' , 0 ) ]
    total    = 0
    for k,v in rows :
        if  v :
            total+=v
        lines   += [ '%-5s|%5d' % (k , v or total) ]
    return   '\n'.join(lines),width

# ------------------------------------------------------------ becomes
def describe( table , indent = 2 ):
    header   = ['name',   'value']      # aligned by hand
    lines    = [ ag__.percent('%-5s|%5s', ( header[0], header[1] )) ]
    width    = 11
    rows     = ag__.list_comp(ag__.call(table.items)( ), lambda k, v: ( k,v ))
    rows    += [ ( 'sum' , 0 ) ]
    total    = 0

    def loop_body(item):
        nonlocal lines, total
        k,v = item

        def if_body():
            nonlocal total
            total+=v
        ag__.if_stmt(v, if_body, None, ('total',))
        lines   += [ ag__.percent('%-5s|%5d', (k , ag__.or_(lambda: v, lambda: total))) ]
    ag__.for_stmt(rows, loop_body, ('lines', 'total'))
    return   ag__.call('\n'.join)(lines),width
