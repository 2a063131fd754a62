/** What the vector kernels' module exports. The .as.ts files say what each does. */

/** Pointers are byte addresses in tfjs's memory; a flag is 0 or 1. */
export interface SimdKernels {
  quantizeRows(
    x: number,
    q: number,
    s: number,
    sums: number,
    tokens: number,
    cols: number,
    block: number,
    tile: number,
    from: number,
    to: number,
  ): void;
  interleaveRows(x: number, out: number, tokens: number, cols: number): void;
  nibblesTimes1(
    w: number,
    q: number,
    s: number,
    sums: number,
    y: number,
    acc: number,
    rows: number,
    blocks: number,
    from: number,
    to: number,
  ): void;
  nibblesTimes4(
    w: number,
    q: number,
    s: number,
    sums: number,
    y: number,
    acc: number,
    panel: number,
    tokens: number,
    rows: number,
    blocks: number,
    from: number,
    to: number,
  ): void;
  nibblesColumns(w: number, out: number, stride: number, panels: number, panelBytes: number): void;
  bytesTimes1(
    w: number,
    q: number,
    s: number,
    sums: number,
    y: number,
    acc: number,
    rows: number,
    blocks: number,
    pairs: number,
    offsets: number,
    from: number,
    to: number,
  ): void;
  bytesTimes4(
    w: number,
    q: number,
    s: number,
    sums: number,
    y: number,
    acc: number,
    tokens: number,
    rows: number,
    blocks: number,
    pairs: number,
    offsets: number,
    from: number,
    to: number,
  ): void;
  bytesColumns(
    w: number,
    out: number,
    stride: number,
    panels: number,
    panelBytes: number,
    pairs: number,
    offsets: number,
  ): void;
  floatsTimes1(
    w: number,
    x: number,
    y: number,
    acc: number,
    rows: number,
    cols: number,
    kind: number,
    from: number,
    to: number,
  ): void;
  floatsTimes4(
    w: number,
    x: number,
    y: number,
    acc: number,
    tokens: number,
    rows: number,
    cols: number,
    kind: number,
    from: number,
    to: number,
  ): void;
  floatsColumns(
    w: number,
    out: number,
    stride: number,
    panels: number,
    panelBytes: number,
    count: number,
    kind: number,
  ): void;
  transposedBlocks(
    w: number,
    stride: number,
    dy: number,
    dx: number,
    tokens: number,
    rows: number,
    cols: number,
    block: number,
    nibbles: number,
    offsets: number,
    work: number,
    from: number,
    to: number,
  ): void;
  transposedFloats(
    w: number,
    stride: number,
    dy: number,
    dx: number,
    tokens: number,
    rows: number,
    cols: number,
    kind: number,
    work: number,
    from: number,
    to: number,
  ): void;
  rmsNorm(
    x: number,
    gain: number,
    y: number,
    cols: number,
    eps: number,
    from: number,
    to: number,
  ): void;
  rmsNormBackward(
    x: number,
    gain: number,
    dy: number,
    dx: number,
    cols: number,
    eps: number,
    from: number,
    to: number,
  ): void;
  swiglu(gate: number, up: number, y: number, from: number, to: number): void;
  geglu(gate: number, up: number, y: number, from: number, to: number): void;
  swigluBackward(
    gate: number,
    up: number,
    dy: number,
    dGate: number,
    dUp: number,
    from: number,
    to: number,
  ): void;
  addRows(y: number, x: number, rows: number, cols: number, stride: number): void;
  rope(
    x: number,
    y: number,
    cos: number,
    sin: number,
    rows: number,
    cols: number,
    half: number,
    start: number,
    second: number,
    stride: number,
    sign: number,
  ): void;
  expSums(z: number, out: number, cols: number, from: number, to: number): void;
  scaledExp(z: number, dz: number, cols: number, max: number, scale: number): void;
  loraAdd(
    y: number,
    x: number,
    aT: number,
    bT: number,
    hidden: number,
    inputs: number,
    rank: number,
    outputs: number,
    scale: number,
    from: number,
    to: number,
  ): void;
  attention(
    q: number,
    k: number,
    v: number,
    out: number,
    p: number,
    rows: number,
    heads: number,
    kvHeads: number,
    headDim: number,
    start: number,
    window: number,
    scale: number,
    begin: number,
    end: number,
  ): void;
  attentionQueries(
    q: number,
    k: number,
    v: number,
    dOut: number,
    dq: number,
    p: number,
    ds: number,
    width: number,
    heads: number,
    kvHeads: number,
    headDim: number,
    window: number,
    scale: number,
    kv: number,
    block: number,
    from: number,
    to: number,
  ): void;
  attentionKeys(
    q: number,
    dOut: number,
    dk: number,
    dv: number,
    p: number,
    ds: number,
    width: number,
    heads: number,
    kvHeads: number,
    headDim: number,
    kv: number,
    block: number,
    positions: number,
    from: number,
    to: number,
  ): void;
}
