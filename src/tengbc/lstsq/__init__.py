"""Dense linear least squares min ‖b − Ax‖, rank-revealing, never NaN."""

from tengbc.lstsq.front import least_squares as least_squares
from tengbc.lstsq.front import method_names as method_names
from tengbc.lstsq.result import LeastSquaresResult as LeastSquaresResult
from tengbc.lstsq.spectrum import Spectrum as Spectrum
from tengbc.lstsq.spectrum import spectrum as spectrum
