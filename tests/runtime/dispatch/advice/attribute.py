# python 3.11
# An attribute that a loop sets.
# >>> before(Particle(), 500)
# >>> after(Particle(), 500)
class Particle:
    def __init__(self):
        self.place = 0.0
        self.speed = 1.0


def before(particle, n):
    for _ in range(n):
        particle.place += particle.speed * 0.1
        particle.speed -= particle.place * 0.1


def after(particle, n):
    place, speed = particle.place, particle.speed
    for _ in range(n):
        place += speed * 0.1
        speed -= place * 0.1
    particle.place, particle.speed = place, speed

# ------------------------------------------------------------ becomes
# before:
#   advice: line 12: this loop sets the attribute `speed` of an object in each iteration. Use a local variable in
#     the loop, and set the attribute behind it
# after:
#   no advice
