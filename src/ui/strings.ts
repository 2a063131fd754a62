/** Every text that the page shows, panel by panel; where a number or a name belongs into it, a function of it. */

import type { MethodName } from '../config.ts';

/** What a text may be given to speak of. */
type Value = string | number;

/** Things that are counted: one, and several. */
export const nouns = {
  step: ['step', 'steps'],
  update: ['update', 'updates'],
  rollback: ['rollback', 'rollbacks'],
  token: ['token', 'tokens'],
  model: ['model', 'models'],
  snapshot: ['snapshot', 'snapshots'],
  run: ['run', 'runs'],
  task: ['task', 'tasks'],
  seed: ['seed', 'seeds'],
  episode: ['episode', 'episodes'],
  module: ['module', 'modules'],
  method: ['method', 'methods'],
  arm: ['arm', 'arms'],
  adapter: ['adapter', 'adapters'],
  comparison: ['comparison', 'comparisons'],
} as const;

export const actions = {
  deleteAllFailed: 'The runs were not deleted',
  noAnswer: 'The engine did not answer',
  listFailed: 'The list of runs could not be read',
  tasksFailed: 'The tasks could not be read',
  openFailed: 'The run could not be opened',
  storedNothing:
    'Nothing of this run was stored: it ended before its first event. It can be deleted.',
  deleteFailed: 'The run was not deleted',
  notebookNotSaved: 'The notebook was not saved',
  read: (name: Value) => `${name} is read`,
  added: (added: Value) => `${added} added.`,
  addedAlready: (added: Value, known: Value) => `${added} added, ${known} was here already.`,
  addressFailed: 'The run at this address could not be opened',
  noRunAtAddress: (url: Value, status: Value) =>
    `${url} answered ${status}. Expected a run as JSONL.`,
  demoFailed: 'The recorded run could not be opened',
  noDemoHere: (status: Value) =>
    `This copy of the page has no recorded run (the server answered ${status}). Run the bundled policy instead.`,
  notOpened: (name: Value) => `${name} was not opened`,
  tooLarge: (name: Value) =>
    `${name} is larger than any run, world or settings file. A model's name must end in .gguf.`,
  open: (name: Value) => `${name} is open`,
  openInPart: (name: Value) => `${name} is open, but not whole`,
  lacks: (file: Value, problem: Value, others: Value) =>
    `${file} ${problem}${others === '' ? '' : ` Also: ${others}.`} The run itself is all there: “Bundle” above it saves a whole one, without its adapter.`,
  task: (goal: Value) => `Its task: ${goal}`,
  taskNotNamed: 'Its task is not named.',
  noSettingDiffers: 'All settings are at their defaults.',
  oneSettingDiffers: 'One setting differs from the defaults; it is marked.',
  settingsDiffer: (count: Value) => `${count} settings differ from the defaults; they are marked.`,
  notSaved: (file: Value) => `${file} was not saved`,
  adapterNotSaved: 'The adapter was not saved',
  bundleNotSaved: 'The bundle was not saved',
  predictionNotSaved: 'The patch was not saved',
  runNotSaved: 'The run was not saved',
} as const;

export const adapterShelfCompare = {
  comparePrompt: 'Compare on a prompt',
  prompt: 'Prompt',
  afterSystemText: ', after the system text of the run on screen',
  baseBeside: 'The base beside',
  most: 'At most',
  tokens: 'tokens',
  compare: 'Compare',
  stop: 'Stop',
  coloursHelp:
    "Greedy. A token is coloured by its log-probability with the adapter less that with the base: blue where the adapter finds it likelier, brown where the base does. The base's own text is coloured by the first adapter.",
  tipOfToken: (piece: Value, difference: Value) => `${piece}, ${difference} nats`,
  nameOfToken: (piece: Value, difference: Value) => `${piece}: ${difference} nats`,
  wholeText: (nats: Value, label: Value, base: Value) =>
    `Whole text: ${nats} nats with ${label}, ${base} with the base.`,
  tokenTable: 'The chosen token under each side',
  logProbability: 'log-probability',
  lessTheBase: "less the base's",
} as const;

export const adapterShelfStrength = {
  strength: 'Strength',
  strengthOf: (name: Value) => `Strength of ${name}`,
} as const;

export const adapterShelfState = {
  readFailed: 'The adapters could not be read',
  reading: (names: Value) => `Reading ${names}`,
  notOpened: (names: Value) => `${names} was not opened`,
  shelf: (name: Value) => `${name} is on the shelf`,
  modulesFit: (modules: Value, modelName: Value) => `Its ${modules} modules fit ${modelName}.`,
  keepingAdapter: 'Keeping the adapter',
  keepFailed: 'The adapter was not kept',
  whereKept: 'It stands under Adapters at the left.',
  renaming: 'Renaming',
  renameFailed: 'The adapter was not renamed',
  deleting: 'Deleting',
  deleteFailed: 'The adapter was not deleted',
  making: (name: Value) => `Making ${name}`,
  notMade: (name: Value) => `${name} was not made`,
  whereMade: 'It stands at the top of the list.',
  saving: 'Saving',
  saveFailed: 'The adapter was not saved',
  merging: 'Merging',
  mergeFailed: 'The model was not merged',
  mergingMb: (bytes: Value) => `Merging, ${bytes} MB`,
  comparing: 'Comparing',
  comparisonFailed: 'The comparison failed',
  promptEmpty: 'The prompt is empty. Write one, then compare.',
  turn: (done: Value, total: Value) => `Turn ${done} of ${total}`,
} as const;

export const adapterShelfWindow = {
  facts: (
    modules: Value,
    targets: Value,
    ranks: Value,
    parameters: Value,
    norm: Value,
    modelName: Value,
  ) =>
    `${modules} modules on ${targets}, rank ${ranks}, ${parameters} parameters, ‖ΔW‖ ${norm}. Opened on ${modelName}.`,
  takeHome: 'Take home',
  needsItsModel: 'Load the model that it fits first.',
  makeAnother: 'Make another',
  name: 'Name',
  note: 'Note',
  keep: 'Keep',
  numberFormat: 'Number format',
  peftZip: 'PEFT zip',
  peftZipHelp: 'A zip of a PEFT folder, with a model card: PEFT, transformers and vLLM take it.',
  ggufLora: 'GGUF LoRA',
  ggufLoraHelp: 'One file for llama.cpp: llama-server --lora takes it.',
  merge: 'Merge into the model in use',
  gguf: (type: Value) => `GGUF in ${type}`,
  mergeCost: (name: Value, change: Value, type: Value, error: Value, value: Value) =>
    `${name}: the adapter changes the weights by ${change} (Frobenius norm); storing them in ${type} is off by ${error}, which is ${value} % of the change.`,
  mergeLosesMuch:
    ' Much of what was learned is lost in rounding: take F16, or keep the adapter apart.',
  mergeOtherMatrices: (tensors: Value, error: Value) =>
    ` ${tensors} other matrices changed their number format (off by ${error}).`,
  keepLargest: 'Keep the largest',
  modules: (kept: Value, modules: Value) => `${kept} of ${modules} modules`,
  prune: 'Prune',
  pruneHelp: 'A new adapter without the modules whose change has the smallest norms.',
  largest: (name: Value, kept: Value) => `${name}, largest ${kept}`,
  withSecond: 'With a second adapter: difference and mixture.',
  with: 'With',
  difference: 'Difference',
  differenceHelp: 'This adapter minus the other: what it has learned beyond it. Ranks add.',
  mix: 'Mix',
  mixHelp: '(1 − t) of this adapter and t of the other. Ranks add.',
  modulesFailed: 'The modules could not be read',
  modulesNorm: 'Modules by norm',
  module: 'module',
  rank: 'rank',
  alpha: 'alpha',
  norm: '‖ΔW‖',
  shareLargest: 'share of the largest',
  barOfNorm: (name: Value) => `norm of ${name}`,
} as const;

export const adapterShelf = {
  adaptersBrowser: 'Adapters in this browser',
  open: 'Open…',
  openHelp:
    'Opens a LoRA for the model in use: a GGUF, a zip of a PEFT folder, or adapter_config.json and adapter_model.safetensors together. Dropping them on the page works too.',
  needsItsModel: 'Load the model that the adapter fits first.',
  adapter: 'An adapter',
  comparePrompt: 'Compare on a prompt',
  compareHelp:
    'Runs one prompt with the base and with adapters, and shows token by token which of them finds it likelier.',
  none: "No adapters yet. Open one from a file, or keep a run's with “Keep adapter” at the head of the run.",
  notOpened: (name: Value) => `${name} was not opened`,
  notAnAdapter: 'It is no adapter: drop it on the page instead.',
  facts: (ranks: Value, modules: Value, norm: Value) => `rank ${ranks} · ${modules} · ‖ΔW‖ ${norm}`,
  ofAnotherModel: ', not the model in use',
  deleteAdapter: (name: Value) => `Delete the adapter: ${name}`,
} as const;

export const app = {
  opening: 'Opening…',
  dropHere:
    'Drop a model or an adapter (.gguf, .zip), a run (.attt.zip, .jsonl), settings (.toml, .json) or a world (scene.json, game.tw-pddl)',
  setup: 'Setup',
  runs: 'Runs',
  adapters: 'Adapters',
  side: 'Setup, runs and adapters',
  closeSide: 'Hide setup, runs and adapters',
  openSide: 'Show setup, runs and adapters',
  skipToTranscript: 'Skip to the transcript',
  skipToMain: 'Skip to what is on screen',
  sideTabs: 'What this side shows',
  title: 'aTTT Lab',
  titleDone: (t: Value) => `Done, ${t} steps · aTTT Lab`,
  titlePaused: (t: Value) => `Paused, step ${t} · aTTT Lab`,
  titleRunning: (t: Value) => `Step ${t} · aTTT Lab`,
} as const;

export const boundaryCard = {
  most: 'at most',
  least: 'at least',
  meanWeight: 'mean weight',
  kl: 'KL',
  klContext: 'KL in context',
  nearest: 'nearest:',
  step: (nearestStep: Value) => `step ${nearestStep}`,
  afterStep: (t: Value) => `after step ${t}`,
  boundary: 'boundary',
  manual: ', asked by you',
  record: 'record',
  json: 'JSON',
  tokens: 'tokens',
  showTokens: 'show its tokens',
  address: 'address',
  linkHelp: "Copies the address of this boundary; a file's run has to be opened again first.",
  copied: 'copied',
  link: 'link',
  goBack: 'go back to here',
  goBackHelp:
    'A new run that has the adapter, the world and the conversation of this moment, and goes on from there.',
  recordTitle: (t: Value) => `Boundary after step ${t}`,
  klNotMeasured: 'not measured at this update',
} as const;

export const capabilities = {
  title: 'What computes here',
  noAnswerYet: 'The engine has not answered yet.',
  restartEngine: 'Restart the engine',
  stopRunFirst: 'Stop the run first.',
  restartHelp:
    'Probes again, after a change of browser settings or a lost device. Stored runs are kept.',
  wishBest: 'the best there is',
  wishWebgpu: 'the graphics card (WebGPU)',
  wishWasm: 'the processor (WASM), where equal runs are equal bit for bit',
  compute: 'Compute with',
  onWebgpu: 'The graphics card, through WebGPU.',
  onWasm: 'The processor, through WebAssembly.',
  onCpu: 'The processor, in plain JavaScript.',
  webgpu: 'WebGPU in this browser',
  adapter: 'A graphics adapter',
  device: 'A device on it',
  shaderF16: '16-bit shaders',
  isolation: 'Cross-origin isolation',
  storage: 'Storage',
  fine: ': fine.',
  notAvailable: ': not available.',
} as const;

export const chartSpecs = {
  repetition: 'Repetition',
  drift: 'Drift',
  updateLoss: 'Update loss',
  updatesRollbacks: 'Updates, rollbacks',
  reward: 'Reward',
  novelty: 'Novelty',
  gradientNorm: 'Gradient norm',
  jaccard: 'Jaccard, 0 to 1',
  step: 'step',
  rK: 'r_k',
  rKLimit: 'r_k limit',
  driftUnit: 'KL to the episode start, nats',
  kl: 'KL',
  inContext: 'in context',
  klLimit: 'KL limit',
  natsPerToken: 'nats per token',
  before: 'before',
  after: 'after',
  soFar: 'so far',
  updates: 'updates',
  rollbacks: 'rollbacks',
  summed: 'summed',
  rewardLabel: 'reward',
  noveltyUnit: '1 − r_k',
  noveltyLabel: 'novelty',
  threshold: 'threshold',
  beforeClipping: 'before clipping',
  firstStep: 'first step',
  lastStep: 'last step',
  clipped: 'clipped to',
} as const;

export const chartTable = {
  raw: (label: Value) => `${label} raw`,
  low: (label: Value) => `${label} low`,
  high: (label: Value) => `${label} high`,
} as const;

export const charts = {
  charts: 'Charts',
  showAllSteps: (start: Value, end: Value) => `Steps ${start} to ${end}: show all`,
  zoomHint: 'Drag to zoom.',
  smoothing: 'smoothing',
  smoothingHelp:
    'Exponential moving average: the weight of what came before. The raw line stays, faint. 0 smooths nothing.',
  off: 'off',
  own: (title: Value) => `${title}: smoothing and axis of its own`,
  ownHelp: 'How this chart is drawn, whatever holds for all: its smoothing, a logarithmic axis.',
  asAll: 'as all',
  chartShows: (place: Value) => `Chart ${place} shows`,
  logAxis: (title: Value) => `${title}: logarithmic axis`,
  logAxisHelp:
    'A logarithmic axis shows small values and large ones together; a linear one shows how far they are apart.',
  linear: 'linear y',
  log: 'log y',
  table: (title: Value) => `${title}: numbers as a table`,
  tableHelp: 'The numbers as a table, to copy or save.',
  step: 'step',
  empty: 'Nothing measured yet.',
  drawing: 'Drawing…',
} as const;

export const command = {
  saveFilesFirst: (names: Value) => `Save ${names} of this run beside it first.`,
  exportStart:
    "Take the adapter that the run started from out of the run's bundle first: npx attt bundle export BUNDLE --to peft-start --out adapter-start.",
  putTaskFile: 'This task came from a file: put that file where the command can read it.',
} as const;

export const compareActions = {
  runFailed: 'A run could not be read',
  notAdded: (name: Value) => `${name} was not added`,
} as const;

export const compareNumbers = {
  repetition: 'Repetition',
  kl: 'KL to the episode start (nats)',
  loss: 'Update loss before (nats)',
  updates: 'Updates so far',
  reward: 'Reward',
  novelty: 'Novelty 1 − r_k',
  gradient: 'Gradient norm, first step',
  observeOnly: (method: Value) => `${method}, observe only`,
  success: 'success',
  meanRepetition: 'mean repetition',
  lastKl: 'last KL',
  modelSha256: 'model sha256',
  world: 'world',
  startAdapter: 'started from',
  fresh: 'fresh adapter',
  forkedFrom: 'forked from',
  fork: (run: string | null, t: Value) => `${run ?? 'a file'}, step ${t}`,
  noFork: 'no fork',
} as const;

export const compare = {
  title: 'Compare runs',
  chooseSome: 'Choose runs in the table.',
  chosen: (runs: Value) => `${runs} chosen`,
  close: 'Close the comparison',
  differences: 'Where their settings differ',
  noDifference: 'Nowhere: model, task and every setting are the same.',
  setting: 'setting',
} as const;

export const deleteButton = {
  delete: 'Delete',
  keep: 'Keep',
} as const;

export const dialog = {
  close: 'Close',
} as const;

export const engine = {
  restarted: 'The engine was restarted.',
  died: (message: Value) =>
    `The engine worker stopped with an error that nobody caught: ${message}`,
  notStarted:
    'The engine worker could not be started. Its script may be missing or blocked; reload the page.',
  unreadable: 'A message from the engine worker could not be read.',
  notRunning: 'The engine is not running. Restart it, then try again.',
} as const;

export const finalValues = {
  title: 'What came out',
  whatIntervals:
    'Runs that came to their end. 95 % intervals: Wilson of success, Student of the others.',
  overTasks:
    'Tasks repeat: those intervals draw whole tasks (bootstrap; rule of three where all are alike).',
  oneTask: 'All of one task: the intervals say nothing of others.',
  runs: 'runs',
  n: (n: Value) => `n ${n}`,
} as const;

export const methodTable = {
  csv: 'CSV',
  method: 'method',
  tasks: 'tasks',
} as const;

export const pairedTable = {
  title: (against: Value) => `Paired with ${against}`,
  what: (comparisons: Value) =>
    `Same task and seed. Mean difference, 95 % bootstrap over tasks (rule of three where all are alike), p of sign flips (Holm, ${comparisons}).`,
  pairs: 'pairs',
  p: (value: Value) => `p ${value}`,
} as const;

export const enlargeButton = {
  enlarge: {
    charts: 'Only the charts',
    lower: 'Only this panel',
  },
  shrink: 'All panels again',
  shrinkHelp: 'All panels again. Escape does the same.',
} as const;

export const findBar = {
  searchTranscript: 'Search the transcript',
  search: 'Search  ( / )',
  notFound: 'not found',
  of: (at: Value, all: Value) => `${at} of ${all}`,
  previous: 'The step found before this one',
  next: 'The next step found',
  showOnly: 'Show only',
  shownOfAll: (shown: Value, items: Value) => `${shown} of ${items}`,
  byNumber: 'Filter by a number',
  byNumberHelp: 'Show only what took long, drifted far, repeated much …: a number and its limit.',
} as const;

export const itemNumbers = {
  seconds: 'seconds',
  tokens: 'tokens',
  repetition: 'repetition',
  kl: 'KL after it',
  reward: 'reward',
} as const;

export const numbersDialog = {
  more: (rows: Value, left: Value) => `Show ${rows} of ${left} more rows`,
} as const;

export const numberFilter = {
  title: 'Limits of a number',
  number: 'Number to filter by',
  side: 'At least or at most',
  least: 'at least',
  most: 'at most',
  value: 'Limit of the filter',
  none: 'Not recorded in this run.',
  ends: (low: Value, high: Value) => `${low} to ${high} here`,
  clear: 'Do not filter by a number',
} as const;

export const find = {
  everything: 'everything',
  effective: 'steps that changed the world',
  withoutEffect: 'steps without effect',
  failedActions: 'failed actions',
  repetition: (repeatingFrom: Value) => `repetition ≥ ${repeatingFrom}`,
  rewarded: 'steps with a reward',
  noted: 'steps with a note',
  boundaries: 'boundaries',
  updates: 'updates',
  withoutUpdate: 'boundaries without update',
  rollbacks: 'rollbacks',
} as const;

export const forkDialog = {
  title: (t: Value) => `Fork from step ${t}`,
  help: (steps: Value) =>
    `The new run writes the first ${steps} of this one again, word by word, trains on them under the settings of the form at the left, and then goes its own way. This run stays as it is.`,
  isGoingBack: (t: Value) =>
    `This is also how to go back to step ${t}: the adapter, the world and the conversation are made again from the record as they were then, so that no snapshot of each step has to be kept. With the settings of this run, on the same machine, they are equal to the last bit.`,
  noChangeYet:
    'The form has the settings of this run. Change some first, or fork as it is to repeat it.',
  thisRun: 'in this run',
  theFork: 'in the fork',
  fork: 'Fork',
  busy: 'One run at a time: stop the one in progress first.',
  takeSettings: 'Take the settings of this run into the form',
  settingUnusable: 'A setting of the form cannot be used; it is marked.',
} as const;

export const header = {
  writing: 'writing',
  writingAt: (rate: Value) => `writing · ${rate} tokens/s`,
  working: 'working',
  appName: 'aTTT Lab',
  tagline: 'Agentic test-time training, in this tab',
  loading: (label: Value) => `Loading ${label}`,
  startingEngine: 'Starting the engine',
  engineStopped: 'The engine stopped',
  aboutLeft: (left: Value) => `, about ${left} left`,
  episode: (seconds: Value, episodes: Value, time: Value) =>
    `Episode ${seconds} of ${episodes}${time} · `,
  startingRun: 'Starting the run',
  stopping: 'Stopping',
  pausedAfterStep: (t: Value) => `Paused after step ${t}`,
  stepThenPause: (t: Value, what: Value) => `Step ${t} · ${what}, then pause`,
  step: (t: Value, what: Value) => `Step ${t} · ${what}`,
  stopped: 'Stopped',
  wasm: 'WASM',
  cpu: 'CPU',
  probing: 'Probing',
  badgeHelp: (reason: Value) => `${reason}\nClick for the details.`,
  badgeProbing: 'Looking for a graphics card.',
  backendDetails: 'backend: details',
  notify: 'Notify me when a run ends',
  notifyOnHelp:
    'You are notified when a run ends while this tab is hidden. Click to switch it off.',
  notifyOffHelp: 'Notify me when a run ends while this tab is hidden.',
  colours: 'Colours',
  coloursTheme: (theme: Value) => `Colours: ${theme}`,
  help: 'Help',
} as const;

export const heatmap = {
  weight: 'weight',
  ceBefore: 'CE before',
  ceAfter: 'CE after',
  change: 'change',
  kl: 'KL',
  entropy: 'entropy',
  title: 'Tokens of an update',
  noBoundaryYet: (updateIntervalK: Value) =>
    `The first boundary comes after step ${updateIntervalK}. Then the text it trains on is shown here, token by token.`,
  noTokensRecorded: 'No boundary of this run recorded its tokens.',
  quantity: 'What the colour says',
  oneScale: 'one scale',
  oneScaleHelp: 'One scale for the whole run keeps colours comparable between boundaries.',
  text: 'text',
  all: 'all',
  kept: (kept: Value) => `kept ${kept}`,
  keptNone: 'kept',
  viewHelp:
    'The text of one boundary, all boundaries of the run as rows of cells, or the tokens that you clicked, as a table.',
  view: 'One boundary or all',
  save: 'Save the tokens of all boundaries',
  saveHelp: 'Saves all boundaries: a picture (SVG, PNG) or every number (CSV).',
  saveDetails: (title: Value) =>
    `The pictures show “${title}” on white, a row a boundary, one scale. The CSV has every number of every token.`,
  step: (t: Value) => `step ${t}`,
  boundaryBefore: 'The boundary before',
  boundaryAfter: 'The boundary after',
  tokens: (t: Value) => `Tokens of the boundary after step ${t}`,
  noWeights: 'No token of this boundary was to be trained.',
  noCeBefore:
    'Cross entropy is measured where a boundary trains or observes; this one did not. The weights are known.',
  noCeAfter:
    'Cross entropy is measured where a boundary trains; this one did not. The weights are known.',
  noKl: 'KL and entropy of each token are measured after an update, as often as the settings say; here they were not.',
  nats: ' nats',
} as const;

export const help = {
  stepKeys: '← → or k j',
  stepKeysDo: 'the step before, the step after',
  boundaryKeysDo: 'the boundary before, the boundary after',
  endKeys: 'Home End',
  endKeysDo: 'the first step, the newest one (and follow the run)',
  space: 'Space',
  spaceDoes: 'pause or resume the run in progress; play or halt a recorded one',
  slashDoes: 'search the transcript; Enter goes from place to place',
  noteKey: 'N',
  noteKeyDoes: 'write a note beside the step on screen',
  escape: 'Escape',
  escapeDoes: 'close what is open; then back to the newest step',
  questionMarkDoes: 'this window',
  tokenKeys: '← → in the tokens',
  tokenKeysDo: 'the token before, the token after; Enter keeps one in the table',
  help: 'Help',
  idea: 'The idea',
  ideaText:
    'A language model that acts in a long task starts to loop. Here a small adapter is trained on its own words while it acts, and each word counts by how new it is. When the model repeats itself too closely, or drifts too far, the adapter goes back to where the episode began.',
  howBegin: 'How to begin',
  beginDrop:
    'Models (.gguf), runs (.jsonl), worlds (scene.json, game.tw-pddl) and settings (config.toml, settings.json) open when they are dropped anywhere on the page. Nothing leaves this tab, unless you connect a server.',
  beginRead:
    'Move along the line at the top to read any step. Each card in the transcript says why there was an update, or why there was none. The tokens of that update are coloured on the right.',
  beginRun: 'Press “Run the bundled policy”. Nothing has to be set or downloaded.',
  takeTour: 'Take the tour',
  keys: 'Keys',
  methods: 'Methods',
  words: 'Words',
} as const;

export const live = {
  run: 'Run',
  runStarted: 'The run has started.',
  step: (t: Value, action: Value) => `Step ${t}: ${action}.`,
  stepNoAction: (t: Value) => `Step ${t}: no action.`,
  rolledBack: 'Rolled back to the episode start.',
  nothingToRollBack: 'There was nothing to roll back.',
} as const;

export const load = {
  summariesFailed: 'The summary server was not connected',
  listFailed: 'The list of models could not be read',
  inUse: 'The model is in use',
  stopRunFirst: 'An episode is running on it. Stop the run first.',
  notLoaded: (ref: Value) => `${ref} was not loaded`,
  connectFailed: 'The server was not connected',
  estimateFailed: 'The memory could not be estimated',
  deleteFailed: 'The model was not deleted',
  deleteAllFailed: 'The models were not deleted',
  bundledPolicy: 'the bundled policy',
  notReady: 'No model was loaded',
  notHere: (url: Value) => `The model ${url} is wanted, and it is not kept in this browser.`,
  download: 'Download it and start again, or load another model under Setup, Model.',
  ownModel: (name: Value) =>
    `The model “${name}” is wanted, which is a file of this computer or a model on a server.`,
  openOwn:
    'Open the file or connect the server under Setup, Model, and start again; or load the bundled policy there.',
} as const;

export const longText = {
  all: (characters: Value) => `Show all ${characters} characters`,
  less: 'Show less',
} as const;

export const memoryBar = {
  kvCache: 'KV cache',
  adam: 'Adam',
  memory: 'Memory',
  of: (bytes: Value) => `of ${bytes}`,
  limit: (what: Value) => `The limit is ${what}.`,
} as const;

export const memoryFit = {
  cacheIsLargest: (context: Value, trained: Value) =>
    `The KV cache is the largest part: a shorter context than ${context} tokens makes it smaller (settings, Policy; the model was trained for ${trained}).`,
  adapterIsLargest:
    'The adapter and its optimiser are the largest part: a lower rank or fewer target modules make them smaller.',
  weightsAreLargest:
    'The weights are the largest part: choose a smaller model, or WebGPU, where weights stay quantised.',
} as const;

export const modelCard = {
  model: 'Model',
  none: 'No model is loaded yet.',
  namedAnother: (named: Value, name: Value) =>
    `The settings name “${named}”, which is not loaded in this tab. A run uses ${name}.`,
  anotherModel: 'Another model',
  keyValue: (kvHeads: Value) => ` / ${kvHeads} key-value`,
  tokens: (contextLength: Value) => `${contextLength} tokens`,
  licence: 'licence',
  server: 'on a server',
  fromPage: 'Came with the page.',
  fromDownload: 'Downloaded; next time it is read from this browser.',
  fromCache: 'Read from this browser; nothing was downloaded.',
  fromFile: 'Read from a file of this computer.',
  fromServer: 'Computed by a server.',
} as const;

export const modelLoading = {
  rate: (bytes: Value) => ` · ${bytes}/s`,
  downloading: 'Downloading',
  fromCache: 'From the cache of this browser, nothing is downloaded',
  readingFile: 'Reading the file',
  toDevice: 'Moving weights to the device',
  warming: 'Warming up',
  pause: 'Pause',
  pauseHelp: 'Keeps what has come, also when the tab is closed; Resume goes on from there.',
  cancel: 'Cancel',
  cancelHelp: 'Ends the download and deletes what has come.',
  mayNotFit: (name: Value, memory: Value) => `${name} may not fit: it needs about ${memory}`,
  thereAbout: (bytes: Value, what: Value) => `, and there are about ${bytes} (${what})`,
  loadAnyway: 'Load it anyway',
  loading: (label: Value) => `Loading ${label}`,
  readingHeader: 'Reading the header',
  of: (bytes: Value, total: Value) => ` · ${bytes} of ${total}`,
  left: (left: Value) => ` · ${left} left`,
} as const;

export const modelServer = {
  modelServer: 'Model on a server',
  help: 'llama-server, vLLM or another OpenAI-compatible server with log-probabilities acts; its weights cannot be trained from here. The key is kept for this session only.',
  modelName: 'model or adapter name',
} as const;

export const serverForm = {
  adapterOnDisk: (of: Value) => `Adapter on the disk of the ${of}`,
  adapterOnDiskHelp:
    "A path on the server's disk: a PEFT folder for vLLM, a GGUF file that llama-server was started with. This page cannot send it one.",
  adapterPath: 'path of an adapter there, or nothing',
  address: (of: Value) => `Address of the ${of}`,
  nameModel: (of: Value) => `Name of the model on the ${of}`,
  key: (of: Value) => `Key of the ${of}`,
  keyHint: 'key, where it wants one',
  asking: 'Asking…',
  connect: 'Connect',
} as const;

export const summaryServer = {
  at: 'at',
  writesThem:
    'writes the summaries. It is sent the task and the steps so far; its key is kept for this session only.',
  letPolicyWrite: 'Let the policy write them',
  policyWrites:
    'The policy writes the summaries itself. Or let a model on an OpenAI-compatible server do it:',
  connectFirst: (model: Value) =>
    `The summaries are to come from "${model}". Connect its server, or empty the summary model.`,
  summaryServer: 'summary server',
  summaryModel: 'summary model',
} as const;

export const bundledAdapter = {
  smollm2Household: 'SmolLM2 policy',
  opensMergesLoads:
    'Opens the adapter that comes with the page, merges it into the loaded SmolLM2 and loads the sum. It plays the household, more slowly than the bundled policy.',
  needsBase: (file: Value, megabytes: Value) =>
    `A LoRA for the household that comes with the page. It needs ${file} (${megabytes} MB, not with the page): load that file first.`,
  notFetched: 'The bundled adapter was not fetched',
} as const;

export const modelSources = {
  bundledPolicy: 'Bundled policy',
  bundledHelp:
    'A small llama that comes with the page. It was trained for the household world and needs no download.',
  ggufFile: 'GGUF file…',
  fileHelp:
    'A model in the GGUF format (llama, Qwen2, Qwen3, Gemma 3), from this computer; of a model in several files choose all. It is read in slices and not copied; dropping it on the page works too.',
  fileName: 'A GGUF file',
  address: 'Address of a GGUF file',
  httpsGguf: 'https://… .gguf',
  load: 'Load',
  keptBrowser: 'Kept in this browser',
  kept: 'Models kept in this browser',
  delete: (models: Value) => `Delete ${models}`,
  keep: 'Keep',
  all: (bytes: Value) => `${bytes} in all`,
  deleteAll: 'Delete all…',
  loadKeptHelp: 'Loads it from this browser, without a download.',
  goesDownload: 'Goes on with the download.',
  of: (bytes: Value, whole: Value) => `${bytes} of ${whole}`,
  resume: 'Resume',
  deleteBrowser: (name: Value) => `Delete ${name} from this browser`,
  deleteHelp: (lastUsed: Value) => `Delete from this browser. Last used ${lastUsed}.`,
} as const;

export const notices = {
  restartEngine: 'Restart the engine',
  downloadModel: 'Download it',
  used: (usage: Value, quota: Value) => `${usage} of ${quota} used.`,
  deleteOldest: (goal: Value, day: Value) => `Delete the oldest run: ${goal} (${day})`,
  deleteModels: 'There are no runs to delete. Models kept here are listed under Setup, Model.',
  nothingToDelete: 'This page keeps nothing that could go: make room on the disk itself.',
  dismiss: (title: Value) => `Dismiss: ${title}`,
} as const;

export const notify = {
  notificationsOff: 'Notifications are off',
  notAllowed:
    'This browser does not allow this page to notify you. The title of the tab tells how far a run is.',
  stopped: 'The run stopped with an error',
  appName: (title: Value) => `aTTT Lab: ${title}`,
} as const;

export const overAxis = {
  axis: 'What the charts are drawn over',
  axisHelp: 'What the charts are drawn over, here and where runs are compared.',
  overStep: 'over steps',
  overShare: 'over share of episode',
  overTokens: 'over tokens written',
  overSeconds: 'over seconds',
  step: 'step',
  share: 'share',
  tokens: 'tokens',
  seconds: 's',
  noTimes: 'No times were recorded here: drawn over steps.',
  log: 'log x',
  logAxis: 'Logarithmic axis of steps',
  logHelp: 'Spreads the beginning out: equal factors are equally far apart.',
} as const;

export const overlay = {
  only: 'Point at a name to make its line stand out; click to keep it so.',
  title: 'In one chart',
  showAll: 'Show all',
  placeOn: {
    step: (place: number) => `step ${place}`,
    share: (place: number) => `${Number((100 * place).toPrecision(3))} % of the episode`,
    tokens: (place: number) => `${Math.round(place)} tokens`,
    seconds: (place: number) => `${Number(place.toFixed(1))} s`,
  },
  quantity: 'What the lines show',
  groupMethod: 'group by method',
  groupHelp:
    'One line a method: the mean of its runs with its 95 % interval: Wilson’s of a reward of 0 or 1, Student’s otherwise, over tasks where tasks repeat, never outside of what is possible.',
  group: (name: Value, runs: Value, tasks: number | null) =>
    `${name} (n = ${runs}${tasks === null ? '' : `, ${tasks} tasks`})`,
  empty: 'None of the chosen runs measured this.',
  drawing: 'Drawing…',
  seed: (index: Value, method: Value, seed: Value) => `${index}: ${method}, seed ${seed}`,
  noValue: 'no value',
  ends: (label: Value, end: Value) => `${label} ends at ${end}`,
} as const;

export const plot = {
  step: (label: Value) => `step ${label}`,
} as const;

export const queueDialog = {
  severalEpisodes: 'Several episodes',
  help: 'They run one after another with the settings as they are now, every method on the same tasks and seeds. Each is kept as a run of its own.',
  tasks: 'Tasks of',
  split: 'the split',
  seeds: 'Seeds',
  methods: 'Methods',
  leftOut: (name: Value, notApplicable: Value) => `${name} is left out: ${notApplicable}`,
  runThem: 'Run them',
  cancel: 'Cancel',
  needsSplit: 'A task from a file is no part of a split: choose a split first.',
  tasksUnreadable: 'Tasks want numbers such as 0-9 or 0,3,7.',
  seedsUnreadable: 'Seeds want numbers such as 1-3 or 1,5.',
  noMethod: 'Choose one method or more.',
  readingTasks: 'Reading the tasks …',
  sum: (episodes: Value, tasks: Value, seeds: Value, arms: Value) =>
    `${episodes}: ${tasks} × ${seeds} × ${arms}`,
  openExperiment: 'Open an experiment…',
  tomlFile: 'A TOML file with tasks, seeds, methods and sweeps, as `attt experiment` runs it.',
  experimentNotOpened: 'The experiment could not be opened',
  fileHelp:
    'Settings are the file’s. Episodes that have a run in this browser already, made with this model, engine and release of the page and not steered by a person, are not run again.',
  chooseByHand: 'Choose by hand',
  startsFrom: (name: Value) => `Each starts from the adapter “${name}”.`,
} as const;

export const queue = {
  noSuchTasks: (file: Value, env: Value, split: Value, known: Value) =>
    `${file}: there is no ${env} ${split} here; there is ${known}. Correct env or split, then open it again.`,
  noPath: (file: Value, adapter: Value) =>
    `${file} starts episodes from the adapter ${adapter}, a path beside it, which a page cannot read. Run it as \`npx attt experiment\`; or put the adapter on the shelf, choose it under “Start from”, and queue the episodes by hand.`,
  notRun: 'The episodes could not be run',
  someAreThere: (there: Value, all: Value, again: number) =>
    `${there} of ${all} episodes have a run here already; the others are run.${
      again > 0
        ? ` Of ${again} of these there are runs here that do not count: another release of this page made them, or a person steered them by an update or a rollback.`
        : ''
    }`,
} as const;

export const recordDialog = {
  whatRecorded: (title: Value) => `${title}: what was recorded`,
  copied: 'Copied',
  copy: 'Copy',
  jsonl: 'JSONL',
  copyRefused: 'The browser does not allow copying here: select the text.',
} as const;

export const reportDialog = {
  report: 'Report',
  openExperiment: 'Open an experiment…',
  html: 'HTML',
  openHelp: 'Choose experiment.json and its rows together, or drop them here.',
  reading: 'Reading…',
  filesMissing: (names: Value) =>
    `Found ${names}; expected experiment.json and one or more rows files (.jsonl or .jsonl.gz) together.`,
  notUnpacked: (name: Value, why: Value) => `${name} could not be unpacked: ${why}. Restore it.`,
} as const;

export const reportButton = {
  report: 'Report…',
  help: "Success, drift and cost by method, with paired tests: of all runs kept here, or of an experiment's rows.",
} as const;

export const report = {
  badInput: 'Nothing was changed.',
  badConfig: 'The settings are as they were before.',
  network: 'A file on this computer can be opened instead.',
  quota: 'A run on screen can still be saved as a file.',
  noAdapter: 'Click the badge at the top to see which step failed and what to do about it.',
  deviceLost: 'Restart the engine, then resume the run.',
  limit: 'Choose a smaller model, a shorter context or a lower rank.',
  timeout: 'The events so far are kept. Try again, or raise the time limit in the settings.',
  environment: 'The agent is not to blame. Try another task, or run again.',
  internal: 'The events so far are kept. If it happens again, restart the engine.',
  stray: 'Something on the page went wrong',
} as const;

export const runBar = {
  title: 'Run controls',
  resumeHelp: 'Go on. (Space)',
  pauseHelp: 'Pause after the step in progress. (Space)',
  resume: 'Resume',
  pause: 'Pause',
  run: 'Run',
  runHelp: 'Run one episode of the chosen task with the settings on the left.',
  step: 'Step',
  stepHelp: 'Do one step, then pause.',
  stop: 'Stop',
  stopQueueHelp:
    'End the run and the queue within a second; everything up to here is kept, and the run can be resumed.',
  stopHelp: 'End the run within a second; everything up to here is kept, and it can be resumed.',
  queue: 'Queue…',
  queueHelp: 'Several tasks, seeds and methods, one episode after another.',
  updateNowHelp:
    'After the step in progress, train on the update text now, whatever the period says.',
  asked: 'Asked',
  updateNow: 'Update now',
  rollBackNowHelp:
    'After the step in progress, put the adapter back to the episode start; world and conversation go on. To go back to any other step, adapter, world and conversation together: “Fork” at that step.',
  rollBackNow: 'Roll back now',
  observeOnly: 'Observe only',
  observeOnlyHelp:
    'For the next run: every number of a boundary is computed and recorded, and nothing is trained.',
} as const;

export const runHead = {
  nthTry: (n: Value) => `try ${n}`,
  startedFrom: (name: Value) => `from the adapter ${name}`,
  observeOnly: ', observe only',
  closeAndReturn: 'Close this run and go back to the one in progress',
  close: 'Close this run',
  closeAndReturnHelp: 'Back to the run in progress',
  settingsHelp: (where: Value) =>
    `${where}\nShows the settings that this run was started with; they cannot change.`,
  adapter: 'Adapter',
  noAdapter: 'A run from a file brings no adapter.',
  adapterHelp:
    'Saves the adapter as a PEFT zip: adapter_config.json and adapter_model.safetensors.',
  keepAdapter: 'Keep adapter',
  keep: 'Keep',
  keepHelp:
    'Puts the adapter, as it stands, on the shelf under Adapters: to compare, merge and mix.',
  bundle: 'Bundle',
  bundleHelp:
    'Saves the whole run as a zip: events, settings, tokens and metrics as tables, adapters, and scripts that recompute it. It opens here again by drop.',
  jsonl: 'JSONL',
  jsonlHelp: 'Saves every event of the run, one JSON record a line; it opens here again by drop.',
  prediction: 'Patch',
  predictionHelp:
    'Saves what the run changed as a line of SWE-bench predictions: instance_id, model_name_or_path, model_patch. The patch is empty where nothing was changed.',
  command: 'Command',
  commandHelp: 'The command that repeats this run without a browser.',
  state: 'state',
  readOnly: (name: Value) => `${name} · read only`,
  storedReadOnly: 'Stored run · read only',
  step: 'step',
  of: (t: Value, stepLimit: Value) => `${t} of ${stepLimit}`,
  updates: 'updates',
  rollbacks: 'rollbacks',
  repetition: 'repetition',
  resume: 'go on',
  resumeStep: (steps: Value) => `Resume from step ${steps}`,
  resumeHelp: 'Goes on where the run ended: what was written is repeated, not sampled again.',
  settingsTitle: 'Settings of this run',
  noSettingDiffers: 'Every setting was at its default.',
  settingsDiffer: (changed: Value, fields: Value) =>
    `${changed} of ${fields} settings differ from their defaults.`,
  showAll: 'show all',
  thisRun: 'in this run',
  default: 'default',
  useAgain: 'Use for the next run',
  commandTitle: 'Repeat this run from the command line',
  copied: 'Copied',
  copy: 'Copy',
  commandNote: (note: Value) =>
    `${note} Run it in a checkout of this project, after npm ci. Equal settings and seed on the same backend give the same events.`,
  copyRefused: 'The browser does not allow copying here: select the line. ',
} as const;

export const runScreen = {
  run: 'Run',
  measurements: 'Measurements',
} as const;

export const runTable = {
  started: 'started',
  task: 'task',
  split: 'split',
  method: 'method',
  seed: 'seed',
  end: 'end',
  steps: 'steps',
  updates: 'updates',
  rollbacks: 'rollbacks',
  reward: 'reward',
  model: 'model',
  tags: 'tags',
  note: 'note',
  title: 'All runs',
  filterRuns: 'Filter the runs',
  filterHint: 'Filter: method, task, tag, note …',
  of: (rows: Value, all: Value) => `${rows} of ${all}`,
  addFiles: 'Add files…',
  files: 'Runs as JSONL to compare',
  csv: 'CSV',
  chooseAll: 'Choose all runs shown',
  none: 'No runs yet. Run an episode, or add files of runs.',
  compareRun: (createdAt: Value, goal: Value) => `Compare the run of ${createdAt}: ${goal}`,
  tagsOf: 'Tags, apart by blanks',
  noteOf: 'Note',
  add: 'add',
  interrupted: 'Interrupted',
} as const;

export const runView = {
  demoName: 'Recorded demo run',
  updatesOff: 'Updates off',
  updatesOffHelp: 'Training is switched off in this run.',
  tooEarly: 'Too early',
  tooEarlyHelp: 'The boundary came before the first step at which this run may train.',
  noText: 'No text',
  noTextHelp: 'There was nothing usable to train on.',
  rolledBackRepetition: 'Rolled back: repetition',
  repetitionOverLimit: 'Repetition over its limit',
  rolledBackRepetitionHelp:
    'The update text repeats an earlier one too closely, so the adapter went back to the episode start.',
  maxUpdates: 'Most updates reached',
  maxUpdatesHelp: 'This episode has had as many updates as its settings allow.',
  skipped: 'Skipped: too little new',
  skippedHelp:
    'Novelty 1 − r_k was under its threshold, or this step’s text was accepted already, so nothing was trained.',
  observedOnly: 'Observed only',
  observedOnlyHelp:
    'It would have trained; in observe-only mode everything is measured and nothing is trained.',
  updated: 'Updated',
  updatedHelp: 'The adapter was trained on the update text and kept.',
  rolledBackKl: 'Rolled back: KL',
  klOverLimit: 'KL over its limit',
  rolledBackKlHelp:
    'After training, the policy had moved further from the episode start than the KL limit allows.',
  discarded: 'Discarded: held texts got worse',
  discardedHelp:
    'Quick validation: texts that were never trained on became less likely, so this update alone was undone.',
  effective: 'changed the world',
  effectiveHelp: 'The world accepted the action and changed.',
  noEffect: 'no effect',
  noEffectHelp:
    'The world accepted the action, but nothing changed; looking around is of this kind.',
  notAdmissible: 'not admissible',
  notAdmissibleHelp:
    'An action was read from the text, but the world does not accept it in this state.',
  noAction: 'no action',
  noActionHelp: 'No action could be read from the text.',
  cutOff: 'cut off',
  cutOffHelp: 'The limit of tokens per step ended the text before an action.',
  solved: 'Solved',
  solvedHelp: 'The world says that the goal holds.',
  failed: 'Failed',
  failedHelp: 'The world ended the task without a reward.',
  stepLimit: 'Step limit reached',
  stepLimitHelp: 'The episode was cut at its step limit; the task counts as not solved.',
  contextFull: 'Context full',
  contextFullHelp: 'The conversation no longer fits into the context of the model.',
  stopped: 'Stopped by you',
  stoppedHelp: 'Everything up to here is kept.',
  worldFailed: 'The world failed',
  worldFailedHelp:
    'The task environment crashed or took too long. This is not a failure of the agent.',
  engineFailed: 'The engine failed',
  engineFailedHelp:
    'The model or the training stopped with an error. Everything up to here is kept.',
  reading: 'reading the conversation',
  acting: 'acting in the world',
  training: 'training the adapter',
  measuring: 'measuring the drift',
  repeating: 'repeating what was recorded',
} as const;

export const running = {
  noTask: 'No task is chosen. Choose a split and a task first.',
  commandFailed: 'The engine did not take the command',
  settingUnusable: 'A setting has a value that cannot be used; it is marked.',
  endedWithError: 'The episode ended with an error',
  stoppedWithError: 'The run stopped with an error',
  notStarted: 'The run was not started',
} as const;

export const runsList = {
  title: 'Kept here',
  compare: 'Compare',
  compareHelp: 'All runs as a table, and several of them in one chart, table or side by side.',
  open: 'Open…',
  openHelp:
    'Opens a run that was saved as a bundle or as JSONL, read only; dropping it on the page works too.',
  file: 'A run as a bundle or JSONL',
  none: 'No runs yet. Each run is kept here step by step, also when the tab is closed in the middle.',
  running: 'Running',
  interrupted: 'Interrupted',
  seed: (seed: Value) => `seed ${seed}`,
  resume: 'Resume',
  snapshots: (snapshots: Value, bytes: Value) => `${snapshots}, ${bytes}`,
  resumeHelp: 'Goes on where it ended: what was written is repeated, not sampled again.',
  deleteRun: (goal: Value) => `Delete the run: ${goal}`,
} as const;

export const saveButtons = {
  svg: 'SVG',
  png: 'PNG',
  pictureFailed: 'The picture was not saved',
  csv: 'CSV',
} as const;

export const savePicture = {
  tooLarge: (width: Value, height: Value) =>
    `The browser could not draw ${width} × ${height} pixels. Save the SVG instead.`,
} as const;

export const scrubber = {
  noAction: 'no action',
  stepBefore: 'The step before',
  title: 'Step on screen',
  help: 'Each bar is a step, as high as it repeats an earlier one; brown and red bars did not reach the world. The marks above are the boundaries.',
  step: (step: Value, last: Value, action: Value, label: Value) =>
    `Step ${step} of ${last}: ${action}, ${label}`,
  noStepsYet: 'No steps yet',
  stepAfter: 'The step after',
  countNone: 'no steps',
  halt: 'Halt the playback',
  play: 'Play the steps back',
  playHelp: 'Plays the recorded steps one after another. (Space, where no run is in progress)',
  speed: (speed: Value, faster: Value) => `Playback speed ${speed}×; change to ${faster}×`,
  speedHelp: 'How fast the playback goes.',
} as const;

export const series = {
  nothingMeasured: (name: Value) => `${name}: nothing measured yet.`,
  summary: (name: Value, known: Value, low: Value, high: Value, last: Value) =>
    `${name}: ${known} values from ${low} to ${high}, the last ${last}.`,
} as const;

export const sharedSettings = {
  ofLink: 'Settings of the link',
  ownKept:
    'Those of your last visit come back when the page is opened without the link, unless you change any here.',
  was: (label: Value, value: Value, before: Value) => `${label}: ${value}, was ${before}`,
  more: (count: Value) => `; ${count} more`,
} as const;

export const settingsForm = {
  policy: 'Policy',
  method: 'Method',
  trigger: 'When to update',
  rollback: 'When to roll back',
  run: 'Run',
  prompt: 'Prompt',
  summaryModel: 'Summary model',
  logging: 'Logging',
  settings: 'Settings',
  resetHelp: 'Puts every setting back to its default.',
  allDefaults: 'All defaults',
  reset: (changed: Value) => `Reset ${changed}`,
  holdForNextRun: 'Changes hold for the next run; this one keeps its own.',
  open: 'Open…',
  configTomlHelp: 'Saves models, method and run settings as config.toml.',
  settingsJsonHelp: 'Saves triggers, rollback limits and logging as settings.json.',
  files: 'A config.toml or settings.json',
  more: (folded: Value) => `${folded} more`,
  changed: (count: Value) => `${count} changed`,
  backTo: (label: Value, field: Value) => `${label}: back to ${field}`,
  backToHelp: (field: Value) => `Back to ${field}`,
  default: (field: Value, unit: Value) => `Default ${field}${unit}`,
  range: (standard: Value, min: Value, high: Value) => `${standard}, from ${min} to ${high}.`,
} as const;

export const startChoice = {
  label: 'Start from',
  help: 'Where the next run starts and what a rollback returns to: a fresh adapter, or one of the shelf. KL is measured against it. Forks start as the run did; runs in a row and experiments start fresh.',
  none: 'A run starts from a fresh adapter. To start from another, open one under "Adapters", or keep that of a run.',
  fresh: 'fresh adapter',
  ofAnotherModel: ' (opened on another model)',
  back: 'Back to a fresh adapter',
  use: 'Use its shape',
} as const;

export const settingsTable = {
  setting: 'setting',
} as const;

export const sideBySide = {
  run: (index: Value, method: Value, seed: Value) => `${index}: ${method}, seed ${seed}`,
  title: 'Side by side',
  runLeft: 'The run on the left',
  runRight: 'The run on the right',
  alike: 'They act alike at every step.',
  partAt: (divergence: Value) => `They part at step ${divergence}`,
  differentTasks: 'Mind that these are different tasks.',
  ended: 'has ended',
  none: '(none)',
} as const;

export const state = {
  startingEngine: 'Starting the engine.',
  engineReady: 'The engine is ready.',
  engineStopped: 'The engine stopped',
  restartHelp:
    'Restart the engine; stored runs and models are kept, the loaded model is loaded again.',
  engineStoppedStatus: 'The engine stopped.',
  loading: (label: Value) => `Loading ${label}.`,
  mayNotFit: (name: Value) => `${name} may not fit into memory.`,
  loaded: (name: Value) => `${name} is loaded.`,
  noModelLoaded: 'No model was loaded.',
  startingRun: 'Starting the run.',
  runEnded: 'The run has ended.',
  opened: (name: Value) => `Opened ${name}.`,
} as const;

export const notes = {
  notRead: 'The notes could not be read',
  notSaved: 'The note was not saved',
} as const;

export const stepNote = {
  note: (t: Value) => `Note on step ${t}`,
  placeholder: 'What is to be remembered here',
} as const;

export const stepTools = {
  note: 'Note',
  noteHelp:
    'Writes a note beside this step (N). It is kept with the run, and goes along when all runs are exported.',
  linkHelp:
    "Copies the address of this step, with the update that is looked at there; a file's run has to be opened again first.",
  copied: 'Copied',
  link: 'Link',
  json: 'JSON',
  jsonHelp: 'Everything that was recorded at this step, as JSON.',
  world: 'World',
  worldHelp:
    'The world after this step: where everything is, or what was changed and which tests pass.',
  fork: 'Fork',
  forkHelp: 'A new run that takes the steps up to here over and goes on with other settings.',
  step: (t: Value) => `Step ${t}`,
} as const;

export const storageFoot = {
  deleteAll: 'Delete all…',
  deleteRuns: (runs: Value) => `Delete ${runs}`,
  keep: 'Keep',
  cannotBeUndone: 'This cannot be undone. “Export all” makes a copy first.',
  exportAll: 'Export all',
  exportHelp:
    'Every run of this browser with its notes, and the adapters that were kept, as one zip: a backup, or the way to another computer.',
  import: 'Import…',
  importHelp:
    'Adds the runs and adapters of an exported notebook; those that are here already stay as they are.',
  notebook: (notebookEnding: Value) => `A notebook (${notebookEnding})`,
  used: (usage: Value, quota: Value) => `${usage} of ${quota} used.`,
  snapshots: (snapshots: Value, bytes: Value) =>
    `Adapters: ${snapshots}, ${bytes}; a run keeps two, its start and its newest, however long it is.`,
  persisted: 'This browser keeps it until you delete it.',
  notPersisted: 'This browser may clear it when the disk runs short.',
  askNot: 'Ask it not to',
} as const;

export const tabsBanner = {
  anotherTab: 'Another tab',
  takingOver: 'Asking the other tab to stop its run and step back …',
  readsOnly:
    'The notebook is open in another tab. This one only reads: runs can be looked at, not started.',
  takeOver: 'Take over',
  takeOverHelp: 'A run in the other tab is stopped first; it is kept and can be resumed here.',
} as const;

export const tabs = {
  tabOnlyReads: 'This tab only reads',
  takeOverFirst:
    'The notebook is open in another tab, which writes to it. Take over here first, with the button at the top.',
} as const;

export const taskCard = {
  task: 'Task',
  world: 'World',
  split: 'Split',
  worldFile: 'A world from a file.',
  file: 'from a file',
  taskBefore: 'The task before',
  number: 'Number of the task in its split',
  of: (known: Value) => `of ${known}`,
  taskAfter: 'The task after',
  anyTask: 'Any task of the split',
  goalUnknown: 'Its goal is told by the world.',
  readingTasks: 'Reading the tasks…',
  fromFile: 'one world from a file',
  openFile: 'world from a file…',
  openFileHelp:
    'Opens a scene.json or a game.tw-pddl of ALFWorld; dropping it on the page works too.',
  acceptedFiles: 'A scene.json or game.tw-pddl',
  codeNeeds: 'For instructed models: the bundled policy knows the household only.',
  readingWorlds: 'Reading the worlds…',
} as const;

export const tokenDetail = {
  token: 'token',
  idPlace: (id: Value, place: Value, count: Value) => `id ${id}, place ${place} of ${count}`,
  weight: 'weight',
  notTrained: 'not trained',
  ce: 'CE',
  notMeasured: 'not measured',
  nats: (before: Value) => `${before} nats`,
  change: (before: Value, after: Value) => `${before} → ${after} nats`,
  logP: 'log p',
  natsEntropy: (entropy: Value) => `${entropy} nats`,
  likely: 'likely',
  id: (id: Value) => `id ${id}`,
  gram: (n: Value) => `${n}-gram`,
  neverBefore: 'none that covers it occurred before',
  before: 'before',
  once: 'once',
  times: (count: Value) => `${count} times`,
  textStep: ', in the text of step ',
} as const;

export const tokenMatrix = {
  row: (t: Value) => `step ${t}`,
  summary: (rows: Value, longest: Value, colour: Value) =>
    `${rows} boundaries with up to ${longest} tokens each, coloured by ${colour}. The text view reads them one by one.`,
} as const;

export const tokenTable = {
  step: 'step',
  place: 'place',
  id: 'id',
  token: 'token',
  weight: 'weight',
  count: 'count',
  ceBefore: 'CE before',
  ceAfter: 'CE after',
  kl: 'KL',
  entropy: 'entropy',
  keptTokens: 'Kept tokens',
  empty: 'Click tokens in the text or among all boundaries: they are kept here side by side.',
  copied: 'Copied',
  copyCsv: 'Copy as CSV',
  emptyTable: 'Empty the table',
  takeOff: 'take off',
  takeOffNamed: (j: Value, t: Value) => `Take token ${j} of step ${t} off the table`,
} as const;

export const tokens = {
  tokenWeight: 'Token weight',
  repeated: 'repeated',
  new: 'new',
  ceBefore: 'Cross entropy before (nats)',
  expected: 'expected',
  surprising: 'surprising',
  ceAfter: 'Cross entropy after (nats)',
  ceChange: 'Change of cross entropy (nats)',
  likelier: 'likelier',
  lessLikely: 'less likely',
  kl: 'KL to the episode start (nats)',
  unmoved: 'as before',
  moved: 'moved',
  entropy: 'Entropy after (nats)',
  sure: 'sure',
  unsure: 'unsure',
} as const;

export const tour = {
  runTitle: 'Run, pause, step, stop',
  runText:
    'One click runs an episode. The line shows every step with its marks: updates, skips, rollbacks. Arrow keys walk it.',
  transcriptTitle: 'What the agent thought, did and saw',
  transcriptText:
    'At every boundary a card says in words whether the adapter was trained, and why not.',
  chartsTitle: 'How repetition, drift and loss went',
  chartsText: 'Limits are drawn as lines. The cursor is the step that you are looking at.',
  tokensTitle: 'How much each token counted',
  tokensText:
    'A token that the agent had written before weighs little, a new one fully. Hover one for its n-gram and its earlier counts.',
  setupTitle: 'What the next run is made of',
  setupText:
    'Model, task and settings, and under “Runs” what was run before. Everything opens by being dropped on the page.',
  backendTitle: 'What computes here',
  backendText:
    'WebGPU or the processor. Click it to see each thing that the browser offers, and what to do where one is missing.',
  of: (place: Value, stops: Value) => `${place} of ${stops}`,
  back: 'Back',
  done: 'Done',
  next: 'Next',
  endTour: 'End the tour',
} as const;

export const transcript = {
  working: 'working',
  transcript: 'Transcript',
  noneShown: 'No part of this run passes the filter.',
  followRun: 'Follow the run',
  given: 'What the policy was given first',
  none: '(none)',
  repetitionHelp: (repetition: Value, tokens: Value) =>
    `Repetition ${repetition}: the largest similarity of the words of this step with an earlier one. ${tokens} written.`,
  recorded: (seconds: Value, when: Value) => `\n${seconds} s, recorded ${when}.`,
  repetition: 'repetition',
  byYou: (t: Value) => `by you after step ${t}`,
  rolledBack: 'Rolled back',
  restored: 'The adapter is as it was at the episode start.',
  nothingToUndo: 'There was nothing to undo: the adapter was as at the episode start.',
  paused: 'Paused. Resume goes on with this step.',
  after: (label: Value, steps: Value) => `${label} after ${steps}`,
  reward: (reward: Value) => `reward ${reward}`,
  reflection: 'What the policy wrote for the next try:',
  reflectionEmpty: '(nothing)',
  cut: 'The record ends here',
  cutHelp: 'The run was interrupted before its end; everything up to here was kept.',
} as const;

export const welcome = {
  nothingLeaves: 'Nothing leaves your computer.',
  conversationGoesTo: (server: Value) =>
    `You connected a model at ${server}: the conversation is sent there, and nowhere else.`,
  summariesGoTo: (server: Value) =>
    `You connected a server for summaries at ${server}: what they sum up is sent there, and nowhere else.`,
  title: 'Watch a language model learn while it acts',
  lead: 'A small model looks for things in a simulated household, starts to repeat itself, and a [lora|LoRA adapter] is trained on its own words, right here in this tab, each word weighed by how new it is.',
  starting: 'Starting…',
  loadingModel: 'Loading the model…',
  run: (name: Value) => `Run ${name}`,
  runBundledPolicy: 'Run the bundled policy',
  openDemo: 'Open a recorded run',
  takeTour: 'Take the tour',
  act: 'Act',
  actText:
    'At each step the [policy|policy] writes a [thought|thought] and one [action|action]; the world answers with an [observation|observation].',
  learn: 'Weigh and learn',
  learnText:
    'Every few steps the adapter is trained on the last text. A repeated [ngram|n-gram] counts little, a new one fully.',
  guard: 'Guard',
  guardText:
    'Too much [ratio|repetition] or [kl|drift] puts the adapter back to the start of the episode: a [rollback|rollback].',
  oneThingMissing: 'This browser offers WebGPU; one other thing is missing',
  thingsMissing: (missing: Value) =>
    `This browser offers WebGPU; ${missing} other things are missing`,
  noWebgpu: 'No WebGPU here: the model runs on the processor, slower',
  interruptedRun: 'An interrupted run',
  interruptedAfter: (steps: Value) =>
    `was interrupted after ${steps}. Everything up to there is kept.`,
  runTitle: 'A run',
  resumeStep: (steps: Value) => `Resume from step ${steps}`,
  read: 'Read it',
  notNow: 'Not now',
  exampleCaption:
    'The words that were written twice before weigh 1 / (1 + 2) = 0.33, the new ones 1.',
} as const;

export const worldPanel = {
  title: (t: Value) => `World after step ${t}`,
  holds: 'holds',
  holdsNothing: 'holds nothing',
  backTokens: 'Back to the tokens',
  notShown: 'This world cannot be looked into.',
  replayingActions: 'Replaying the actions…',
  diverged: (broken: Value) =>
    `From step ${broken} on the replayed world is not the recorded one; it may come from another version.`,
  places: 'Places',
  agent: 'the agent is here:',
  open: 'open',
  closed: 'closed',
  empty: 'empty',
  legend: 'Pale things were never named to the agent. Marked ones moved or changed in this step.',
  neverNamed: 'No observation has named it yet.',
  namedAtStart: 'Named by the first observation.',
  namedAt: (at: Value) => `Last named by the observation of step ${at}.`,
  programTitle: (t: Value) => `Program after step ${t}`,
  program: 'What was changed, and the tests',
  testsPass: (passed: Value, all: Value) => `${passed} of ${all} tests pass`,
  handedIn: { solved: 'handed in, solved', failed: 'handed in, not solved' },
  whichDiff: 'Which changes',
  diffOfStep: 'This step',
  diffOfAll: 'Since the start',
  stepUnchanged: 'This step changed no file.',
  unchanged: 'No file differs from the start.',
  tests: 'Tests',
  passes: '✓ pass',
  fails: '✗ fail',
  hiddenTest: 'hidden',
  sinceThisStep: 'since this step',
  programLegend:
    'Every test as it fares after this step, run or not. The agent never reads hidden tests; they count when it hands in.',
  replayFailed: 'The world could not be replayed',
  notReplayed: 'The world could not be replayed. Close this panel and open it to try again.',
} as const;

/** What each method does, in a sentence. docs/methods.md says more. */
export const methods = {
  attt: 'Trains the adapter on the agent’s own text while it acts, each token weighed by how new it is, with novelty gate and rollback.',
  frozen: 'Never trains: the baseline.',
  naive: 'Trains while acting with all weights 1, without novelty gate and rollback.',
  sequence_filter:
    'Trains while acting with all weights 1; the novelty gate skips texts that repeat.',
  random_drop: 'As attt, but as many tokens as the weights sum to are drawn at random and weigh 1.',
  static: 'Trains once, on the first prompt, before acting.',
  static_q: 'As static, on the query projections alone.',
  static_in_place: 'As static, on the down projections of the MLP alone.',
  repetition_penalty: 'Never trains; samples with a penalty on words that were written before.',
  temperature: 'Never trains; samples at another temperature.',
  loop_breaker:
    'Never trains; an action that has done nothing since the world last changed is sampled again.',
  short_history: 'Never trains; only the last turns stay in the prompt.',
  long_context: 'Never trains; reads a longer context, where the model has one.',
  reflexion:
    'Never trains; tries a failed task again, with what the policy wrote about its failures.',
} as const satisfies Record<MethodName, string>;

/** The words of the field, each in plain language with its formula where it has one. */
export const terms = {
  attt: {
    word: 'agentic test-time training',
    text: 'While the agent acts, a small adapter is trained on the agent’s own recent text. Each token counts by how new it is, so that repeated text teaches little.',
  },
  policy: {
    word: 'policy model',
    text: 'The language model that acts: it reads the conversation and writes a thought and one action at each step.',
  },
  gguf: {
    word: 'GGUF',
    text: 'The file format of llama.cpp: weights, tokenizer and chat template in one file. Weights stay as small as they are in the file.',
  },
  quantisation: {
    word: 'quantisation',
    text: 'How the weights are stored. Q8_0: 8 bits a weight with one scale for 32 of them; Q4_0: 4 bits; F16 and F32: not quantised.',
  },
  parameters: { word: 'parameters', text: 'How many numbers the model has learnt.' },
  layers: {
    word: 'layers × width',
    text: 'How many blocks the model has, and how many numbers describe one token inside it.',
  },
  heads: {
    word: 'heads',
    text: 'Attention heads, and how many of them have keys and values of their own (fewer save memory).',
  },
  context: {
    word: 'context',
    text: 'The most tokens of conversation that the policy can read at once.',
  },
  sha256: {
    word: 'sha256',
    text: 'The fingerprint of the model file. Equal fingerprint, equal file.',
  },
  weights_memory: { word: 'weights', text: 'The model itself, quantised as in its file.' },
  kv: {
    word: 'KV cache',
    text: 'Keys and values of the conversation so far, kept so that a step costs only its new tokens. Grows with the context:\n2 × layers × context × key-value width × 4 bytes.',
  },
  lora: {
    word: 'LoRA adapter',
    text: 'A small pair of matrices beside each chosen weight matrix: W + (alpha / r) · B · A. Only A and B are trained; W stays as it is.',
  },
  lora_memory: {
    word: 'adapter memory',
    text: 'The trained numbers of the adapter: 4 bytes × r × (inputs + outputs) for each target module of each layer.',
  },
  optimiser: {
    word: 'optimiser',
    text: 'Adam keeps two running averages for each trained number: 2 × the adapter.\nm ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g², step = lr · m̂ / (√v̂ + ε)',
  },
  activations: {
    word: 'activations',
    text: 'Working memory of reading and training: one input a layer is kept, the rest is computed again.',
  },
  split: {
    word: 'split',
    text: 'A fixed list of tasks. Tasks of “unseen” splits play in rooms that no training task has used.',
  },
  task: { word: 'task', text: 'One world with one goal. Its number in the split names it.' },
  goal: { word: 'goal', text: 'What the agent has to reach; the world itself checks it.' },
  thought: {
    word: 'thought',
    text: 'What the policy writes before its action. It only speaks to itself.',
  },
  action: { word: 'action', text: 'The one command that was sent to the world.' },
  observation: { word: 'observation', text: 'What the world answers.' },
  boundary: {
    word: 'boundary',
    text: 'After every K-th step the loop may train. Each boundary is recorded with its numbers and with the reason for what happened.',
  },
  update: {
    word: 'update',
    text: 'A few gradient steps on the update text; afterwards the policy acts with the changed adapter.',
  },
  rollback: {
    word: 'rollback',
    text: 'Adapter, optimiser and step counter go back to the episode start. World and conversation go on.',
  },
  reward: {
    word: 'reward',
    text: 'What the world gives for a step, summed up. The household gives 1 when the goal holds, else nothing.',
  },
  repetition: {
    word: 'repetition of a step',
    text: 'The largest Jaccard similarity of the words of this step’s text with those of any earlier step:\n|A ∩ B| / |A ∪ B|. 1 = the same words, 0 = none in common.',
  },
  ratio: {
    word: 'r_k',
    text: 'The largest Jaccard similarity of the words of this update text with an earlier accepted update text. It decides whether to train and whether to roll back.',
  },
  novelty: {
    word: 'novelty',
    text: '1 − r_k. An update needs at least the novelty threshold.',
  },
  kl: {
    word: 'KL',
    text: 'How far the policy has moved since the episode start: the mean over the trained positions of\nΣ p(now) · log(p(now) / p(start)), over the whole vocabulary, in nats.',
  },
  kl_context: {
    word: 'KL in context',
    text: 'The same at the next token of the last prompt: the drift where the agent acts. Only recorded, never a limit.',
  },
  loss: {
    word: 'loss',
    text: 'Σ w · CE / Σ w over the trained tokens, before the first gradient step and after the last. Lower = the text became likelier.',
  },
  ce: {
    word: 'cross entropy',
    text: 'CE = −log p(token), in nats: how surprised the policy was by this token. 0 = certain.',
  },
  entropy: {
    word: 'entropy',
    text: '−Σ p · log p over the whole vocabulary, in nats, after the update: how unsure the policy is of the next token. 0 = certain.',
  },
  alternatives: {
    word: 'alternatives',
    text: 'The likeliest tokens in this place after the update, with their log-probabilities in nats.',
  },
  logprob: {
    word: 'log-probability',
    text: 'log p(token) in nats, before the update and after it; the cross entropy with its sign turned.',
  },
  weight: {
    word: 'token weight',
    text: 'w = max(w_min, 1 / (1 + f)), where f is how often an n-gram that covers the token occurred in earlier accepted update texts. 1 = new, small = repeated.',
  },
  ngram: {
    word: 'n-gram',
    text: 'n token ids in a row. The most frequent one that covers a token decides the weight of the token.',
  },
  mean_weight: { word: 'mean weight', text: 'The mean of w over the trained tokens.' },
  delta: {
    word: '‖ΔW‖',
    text: 'The size of all that the adapter adds to the weights (Frobenius norm, scale included). 0 = no change.',
  },
  grad_norm: {
    word: 'gradient norm',
    text: 'The length of the whole gradient at each gradient step, before clipping.',
  },
  observe_only: {
    word: 'observe only',
    text: 'Every number of a boundary is computed and recorded, and nothing is trained.',
  },
  backend: {
    word: 'backend',
    text: 'What computes: the graphics card through WebGPU, or the processor through WebAssembly (WASM), which is slower.',
  },
  seed: {
    word: 'seed',
    text: 'Equal seeds give equal runs. Every method draws the same random numbers at the same step.',
  },
  peft: {
    word: 'PEFT',
    text: 'Hugging Face’s format for adapters: adapter_config.json and adapter_model.safetensors.',
  },
  jsonl: { word: 'JSONL', text: 'One JSON record a line; here one event of the run a line.' },
  change: {
    word: 'change',
    text: 'Cross entropy after the update minus before. Negative: the token became likelier.',
  },
} as const satisfies Record<string, { readonly word: string; readonly text: string }>;

export type TermName = keyof typeof terms;
