"""Metadata for LLVM about loops and branches."""

RARE = ", !llvm.loop !5"        # a loop of so few turns that vectors are not worth it, or that is of vectors
ONCE = ", !llvm.loop !8"        # one of just as many turns as a vector has, which are not to be written out before
RARELY = ", !prof !7"           # a branch that goes the first way
HINTS = """!1 = !{}
!3 = !{!"llvm.loop.unroll.disable"}
!5 = distinct !{!5, !3, !6}
!6 = !{!"llvm.loop.vectorize.enable", i1 false}
!7 = !{!"branch_weights", i32 1000000, i32 1}
!8 = distinct !{!8, !3}
"""
