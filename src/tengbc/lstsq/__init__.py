"""Dense linear least squares min ‖b − Ax‖ where A may be rank-deficient: cut off, or damped."""

from tengbc.lstsq.conjugate import ConjugateGradients as ConjugateGradients
from tengbc.lstsq.regularised import RegularisedQR as RegularisedQR
from tengbc.lstsq.spectrum import LeastSquaresResult as LeastSquaresResult
from tengbc.lstsq.spectrum import Spectrum as Spectrum
from tengbc.lstsq.spectrum import spectrum as spectrum
