"""What a program file from elsewhere may say: the names of `vetting.py`'s allowlist, as plain tables.

A name that is not here is refused. What is here computes with tensors and touches nothing else: no file, no network, no
process, no memory by address, no text that is run as code, no state that outlives the program. `tests/core/
test_vocabulary.py` holds the tables against the torch that is installed: every operator is one of torch's native ones,
and every public attribute of `Tensor` and `Module` is either allowed or in `TAKEN`.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# `torch.NAME(...)` and `tensor.NAME(...)` alike: ATen operators.
OPERATORS = _words("""
    abs abs_ absolute absolute_ acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d add add_ addbmm
    addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint affine_grid_generator
    alias_copy all allclose alpha_dropout alpha_dropout_ amax amin aminmax angle any arange arccos arccos_ arccosh
    arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax argmin argsort
    argwhere as_strided as_strided_ as_strided_copy as_strided_scatter as_tensor asarray asin asin_ asinh asinh_
    atan atan2 atan2_ atan_ atanh atanh_ atleast_1d atleast_2d atleast_3d avg_pool1d baddbmm baddbmm_
    bartlett_window batch_norm bernoulli bernoulli_ bfloat16 bilinear binary_cross_entropy_with_logits bincount
    binomial bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or
    bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ blackman_window block_diag bmm
    bool broadcast_shapes broadcast_tensors broadcast_to bucketize byte can_cast cartesian_prod cat cauchy_ cdist
    cdouble ceil ceil_ celu celu_ cfloat chain_matmul chalf channel_shuffle char cholesky cholesky_inverse
    cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone column_stack
    combinations complex concat concatenate conj conj_physical conj_physical_ constant_pad_nd contiguous conv1d
    conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d copy_ copysign copysign_ corrcoef cos cos_ cosh
    cosh_ cosine_embedding_loss cosine_similarity count_nonzero cov cross cummax cummin cumprod cumprod_ cumsum
    cumsum_ cumulative_trapezoid deg2rad deg2rad_ det detach detach_ detach_copy diag diag_embed diagflat diagonal
    diagonal_copy diagonal_scatter diff digamma digamma_ dim dim_order dist div div_ divide divide_ dot double
    dropout dropout_ dsplit dstack einsum element_size embedding empty empty_like empty_permuted empty_strided eq
    eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as expand_copy expm1 expm1_
    exponential_ eye feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fill fill_
    fill_diagonal_ fix fix_ flatten flip fliplr flipud float float_power float_power_ floor floor_ floor_divide
    floor_divide_ fmax fmin fmod fmod_ frac frac_ frexp frobenius_norm full full_like gather gcd gcd_ ge ge_
    geometric_ geqrf ger get_default_dtype gradient greater greater_ greater_equal greater_equal_ grid_sampler
    grid_sampler_2d grid_sampler_3d group_norm gt gt_ half hamming_window hann_window hardshrink heaviside
    heaviside_ hinge_embedding_loss histc histogram hsplit hstack hypot hypot_ i0 i0_ igamma igamma_ igammac
    igammac_ imag index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_put index_put_
    index_reduce index_reduce_ index_select inner instance_norm int inverse is_complex is_conj is_contiguous
    is_floating_point is_grad_enabled is_neg is_nonzero is_same_size is_signed is_tensor isclose isfinite isin isinf
    isnan isneginf isposinf isreal item kaiser_window kl_div kron kthvalue layer_norm lcm lcm_ ldexp ldexp_ le le_
    lerp lerp_ less less_ less_equal less_equal_ lgamma lgamma_ linspace log log10 log10_ log1p log1p_ log2 log2_
    log_ log_normal_ log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_and_ logical_not
    logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit logit_ logspace logsumexp long lt lt_
    margin_ranking_loss masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select matmul matrix_exp
    matrix_power max max_pool1d max_pool1d_with_indices max_pool2d max_pool3d maximum mean median meshgrid min
    minimum mm mode moveaxis movedim msort mul mul_ multinomial multiply multiply_ mv mvlgamma mvlgamma_ nan_to_num
    nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy ndimension ne ne_ neg neg_ negative
    negative_ nelement new_empty new_empty_strided new_full new_ones new_tensor new_zeros nextafter nextafter_
    nonzero nonzero_static norm normal normal_ not_equal not_equal_ numel ones ones_like outer pairwise_distance
    pdist permute permute_copy pinverse pixel_shuffle pixel_unshuffle poisson poisson_nll_loss polar polygamma
    polygamma_ positive pow pow_ prelu prod promote_types put put_ qr quantile rad2deg rad2deg_ rand rand_like
    randint randint_like randn randn_like random_ randperm range ravel real reciprocal reciprocal_ relu relu_
    remainder remainder_ renorm renorm_ repeat repeat_interleave requires_grad_ reshape reshape_as resize_
    resize_as_ resolve_conj resolve_neg result_type rms_norm roll rot90 round round_ row_stack rrelu rrelu_ rsqrt
    rsqrt_ rsub scalar_tensor scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ searchsorted
    select select_copy select_scatter selu selu_ set_ sgn sgn_ short sigmoid sigmoid_ sign sign_ signbit sin sin_
    sinc sinc_ sinh sinh_ size slice_copy slice_scatter slogdet softmax sort split split_copy split_with_sizes
    split_with_sizes_copy sqrt sqrt_ square square_ squeeze squeeze_ squeeze_copy stack std std_mean storage_offset
    stride sub sub_ subtract subtract_ sum sum_to_size svd swapaxes swapaxes_ swapdims swapdims_ t t_ t_copy take
    take_along_dim tan tan_ tanh tanh_ tensor tensor_split tensordot threshold threshold_ tile to to_dense tolist
    topk trace transpose transpose_ transpose_copy trapezoid trapz triangular_solve tril tril_ tril_indices
    triplet_margin_loss triu triu_ triu_indices true_divide true_divide_ trunc trunc_ type type_as unbind
    unbind_copy unflatten unfold unfold_copy uniform_ unique unique_consecutive unravel_index unsafe_chunk
    unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ unsqueeze_copy vander var var_mean vdot view view_as
    view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy vsplit vstack where xlogy xlogy_
    zero_ zeros zeros_like
""")
_FOREACH = _words("""
    abs abs_ acos acos_ add add_ addcdiv addcdiv_ addcmul addcmul_ asin asin_ atan atan_ ceil ceil_ clamp_max
    clamp_max_ clamp_min clamp_min_ clone copy_ cos cos_ cosh cosh_ div div_ erf erf_ erfc erfc_ exp exp_ expm1
    expm1_ floor floor_ frac frac_ lerp lerp_ lgamma lgamma_ log log10 log10_ log1p log1p_ log2 log2_ log_ max
    maximum maximum_ minimum minimum_ mm mul mul_ neg neg_ norm pow pow_ powsum reciprocal reciprocal_ round round_
    rsqrt rsqrt_ sigmoid sigmoid_ sign sign_ sin sin_ sinh sinh_ sqrt sqrt_ sub sub_ tan tan_ tanh tanh_ trunc
    trunc_ zero_
""")
FUNCTIONAL = _words("""
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool1d_with_indices
    adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices
    affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy
    binary_cross_entropy_with_logits celu celu_ channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy dropout dropout1d
    dropout2d dropout3d elu elu_ embedding feature_alpha_dropout fold gaussian_nll_loss gelu glu grid_sample
    group_norm gumbel_softmax hardshrink hardsigmoid hardswish hardtanh hardtanh_ hinge_embedding_loss huber_loss
    instance_norm interpolate kl_div l1_loss layer_norm leaky_relu leaky_relu_ linear local_response_norm
    log_softmax logsigmoid lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss max_pool1d max_pool1d_with_indices
    max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices mish mse_loss multi_margin_loss
    multilabel_margin_loss multilabel_soft_margin_loss nll_loss normalize one_hot pad pairwise_distance pdist
    pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6 relu_ rms_norm rrelu rrelu_
    scaled_dot_product_attention selu selu_ sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin softplus
    softshrink softsign tanh tanhshrink threshold threshold_ triplet_margin_loss unfold upsample upsample_bilinear
    upsample_nearest
""")
MODULES = _words("""
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
    AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d
    Bilinear Buffer CELU ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d
    ConstantPad3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss
    CosineSimilarity CrossEntropyLoss Dropout Dropout1d Dropout2d Dropout3d ELU Embedding FeatureAlphaDropout
    Flatten Fold GELU GLU GRU GRUCell GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh
    HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LPPool1d
    LPPool2d LPPool3d LSTM LSTMCell LayerNorm LeakyReLU Linear LocalResponseNorm LogSigmoid LogSoftmax MSELoss
    MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d Mish Module ModuleDict ModuleList MultiLabelMarginLoss
    MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PReLU PairwiseDistance Parameter ParameterDict ParameterList
    PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNCell RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d
    ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU Sequential SiLU Sigmoid SmoothL1Loss
    SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold
    TripletMarginLoss Unflatten Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d
    ZeroPad3d
""")
_DTYPES = _words("""
    float16 float32 float64 bfloat16 half float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 short int long
    bool complex32 complex64 complex128 chalf cfloat cdouble
""")
_TORCH = _words("""
    Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor IntTensor LongTensor ShortTensor CharTensor ByteTensor
    BoolTensor Size device dtype finfo iinfo layout memory_format strided contiguous_format preserve_format
    channels_last channels_last_3d e pi inf nan newaxis no_grad enable_grad inference_mode manual_seed
""")
_TYPING = _words("Any Dict Final List NamedTuple Optional Sequence Tuple Union")
_MATH = _words("""
    ceil comb copysign cos e erf exp fabs floor fmod gcd hypot inf isclose isfinite isinf isnan lcm log log10 log1p log2
    nan pi prod sin sqrt tan tanh tau trunc
""")
_OVERLOADS = _words("default Tensor Scalar Tensor_Scalar Scalar_Tensor int dim self out")

# What may follow a module's name. A name that leads to another of these modules stands for that module.
NAMES = {
    "torch": OPERATORS | {f"_foreach_{name}" for name in _FOREACH} | _DTYPES | _TORCH | {"nn", "ops"},
    "torch.nn": MODULES | {"functional"},
    "torch.nn.functional": FUNCTIONAL,
    "torch.ops": _words("aten"),
    "torch.ops.aten": OPERATORS | {f"_foreach_{name}" for name in _FOREACH},
    "typing": _TYPING,
    "collections.abc": _words("Sequence Iterable Mapping"),
    "math": _MATH,
    "__future__": _words("annotations"),
}
# What may follow any other value: a tensor, a module, a container, a number, an operator of `torch.ops.aten`.
ATTRIBUTES = (
    OPERATORS
    | _OVERLOADS
    | _words("""
    H T cpu data device dtype grad imag is_cpu is_cuda is_leaf is_meta itemsize layout mH mT name nbytes ndim real
    requires_grad shape index indices values lu solve eig
    add_module buffers children eval modules named_buffers named_children named_modules named_parameters parameters
    register_buffer register_module register_parameter train training zero_grad
    weight bias in_features out_features running_mean running_var num_batches_tracked eps momentum
    append clear copy count extend insert items keys pop remove reverse setdefault update discard union
    bits max min tiny smallest_normal resolution is_integer
""")
)
# Attributes of Tensor and Module that are not allowed, and that no attribute of the file's own may be called by.
TAKEN = _words("""
    T_destination apply apply_ as_subclass backward call_super_init ccol_indices coalesce col_indices compile
    const_data_ptr crow_indices cuda data_ptr dense_dim dequantize dump_patches extra_repr get_buffer get_device
    get_extra_state get_parameter get_submodule grad_dtype grad_fn hash_tensor int_repr ipu is_coalesced
    is_distributed is_inference is_ipu is_maia is_mkldnn is_mps is_mtia is_nested is_pinned is_quantized is_set_to
    is_shared is_sparse is_sparse_csr is_vulkan is_xla is_xpu istft load_state_dict lstsq lu_solve map2_ map_
    module_load mtia new numpy orgqr ormqr output_nr pin_memory q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point qscheme record_stream register_backward_hook
    register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
    register_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook
    register_post_accumulate_grad_hook register_state_dict_post_hook register_state_dict_pre_hook reinforce resize
    resize_as resize_as_sparse_ retain_grad retains_grad row_indices set_extra_state set_submodule share_memory
    share_memory_ slice_inverse smm sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm
    state_dict stft storage storage_type symeig to_empty to_mkldnn to_padded_tensor to_sparse to_sparse_bsc
    to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr untyped_storage volatile xpu
""")
# The only attributes of values that are not the file's own and may be assigned.
ASSIGNABLE = _words("data grad requires_grad")
BUILTINS = _words("""
    abs all any bool complex dict divmod enumerate float frozenset int isinstance len list max min pow print range
    reversed round set slice sorted sum tuple zip
    AssertionError Exception IndexError KeyError NotImplementedError RuntimeError TypeError ValueError
    True False None Ellipsis NotImplemented
""")
# Builtins that are not allowed, but that arguments and variables are often named after; reading one does no harm.
SHADOWED = _words("ascii bin bytes chr filter format hash hex id input iter map next oct ord repr str")
MODES = _words("torch.no_grad torch.enable_grad torch.inference_mode")
BASES = _words("torch.nn.Module typing.NamedTuple")
# Calls that make as many elements as their numbers say: the product of all, the longest, or that of a list alone.
SIZED = {
    **dict.fromkeys(_words("""
    broadcast_to empty empty_permuted expand eye new_empty new_ones new_zeros ones rand randn repeat repeat_interleave
    resize_ tile tril_indices triu_indices zeros Tensor
    """), "product"),
    **dict.fromkeys(_words("arange range randperm linspace logspace"), "longest"),
    **dict.fromkeys(_words("as_strided as_strided_ empty_strided full new_empty_strided new_full randint"), "lists"),
}  # fmt: skip
