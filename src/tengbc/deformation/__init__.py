"""A network that bends space: waves in coordinates y that are drawn together where u is steep.

u(x) = Σ_k û_k exp(i k·y) with x = y + ∇φ(y). Its parameters are the potential φ, a Fourier series
too (the body), and û (the linear head). Both move at once: φ so that equal cells in y hold equal
parts of a monitor of |∇u|, û so that the equation holds.
"""
