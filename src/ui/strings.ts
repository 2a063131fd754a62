/** Every text that the page shows, panel by panel; where a number or a name belongs into it, a function of it. */

/** What a text may be given to speak of. */
type Value = string | number;

/** Things that are counted: one, and several. */
export const nouns = {
  step: ['step', 'steps'],
  update: ['update', 'updates'],
  rollback: ['rollback', 'rollbacks'],
  token: ['token', 'tokens'],
  model: ['model', 'models'],
  run: ['run', 'runs'],
  task: ['task', 'tasks'],
  seed: ['seed', 'seeds'],
  episode: ['episode', 'episodes'],
  module: ['module', 'modules'],
  method: ['method', 'methods'],
  arm: ['arm', 'arms'],
} as const;

export const actions = {
  runsNotDeleted: 'The runs were not deleted',
  engineDidNotAnswer: 'The engine did not answer',
  listRunsCouldNotRead: 'The list of runs could not be read',
  tasksCouldNotRead: 'The tasks could not be read',
  runCouldNotOpened: 'The run could not be opened',
  nothingRunStoredEnded:
    'Nothing of this run was stored: it ended before its first event. It can be deleted.',
  runNotDeleted: 'The run was not deleted',
  notebookNotSaved: 'The notebook was not saved',
  read: (name: Value) => `${name} is read`,
  addedAlready: (added: Value, known: Value) => `${added} added, ${known} was here already.`,
  runAddressCouldNotOpened: 'The run at this address could not be opened',
  answeredExpectedRunJsonl: (url: Value, status: Value) =>
    `${url} answered ${status}. Expected a run as JSONL.`,
  recordedRunCouldNotOpened: 'The recorded run could not be opened',
  copyPageNoRecorded: (status: Value) =>
    `This copy of the page has no recorded run (the server answered ${status}). Run the bundled policy instead.`,
  notOpened: (name: Value) => `${name} was not opened`,
  largerThanAnyRun: (name: Value) =>
    `${name} is larger than any run, world or settings file. A model's name must end in .gguf.`,
  open: (name: Value) => `${name} is open`,
  task: (goal: Value) => `Its task: ${goal}`,
  taskNotNamed: 'Its task is not named.',
  allSettingsTheirDefaults: 'All settings are at their defaults.',
  oneSettingDiffersDefaultsMarked: 'One setting differs from the defaults; it is marked.',
  settingsDifferDefaultsTheyMarked: (count: Value) =>
    `${count} settings differ from the defaults; they are marked.`,
  notSaved: (file: Value) => `${file} was not saved`,
  adapterNotSaved: 'The adapter was not saved',
  bundleNotSaved: 'The bundle was not saved',
  runNotSaved: 'The run was not saved',
} as const;

export const adapterShelfCompare = {
  comparePrompt: 'Compare on a prompt',
  prompt: 'Prompt',
  afterSystemTextRunScreen: ', after the system text of the run on screen',
  baseBeside: 'The base beside',
  strength: (name: Value) => `Strength of ${name}`,
  most: 'At most',
  tokens: 'tokens',
  compare: 'Compare',
  stop: 'Stop',
  greedyTokenColouredLog:
    "Greedy. A token is coloured by its log-probability with the adapter less that with the base: blue where the adapter finds it likelier, brown where the base does. The base's own text is coloured by the first adapter.",
  nats: (piece: Value, difference: Value) => `${piece}, ${difference} nats`,
  natsPieceDifference: (piece: Value, difference: Value) => `${piece}: ${difference} nats`,
  wholeTextNatsBase: (nats: Value, label: Value, base: Value) =>
    `Whole text: ${nats} nats with ${label}, ${base} with the base.`,
  chosenTokenUnderEachSide: 'The chosen token under each side',
  logProbability: 'log-probability',
  lessBases: "less the base's",
} as const;

export const adapterShelfState = {
  adaptersCouldNotRead: 'The adapters could not be read',
  reading: (names: Value) => `Reading ${names}`,
  notOpened: (names: Value) => `${names} was not opened`,
  shelf: (name: Value) => `${name} is on the shelf`,
  modulesFit: (modules: Value, modelName: Value) => `Its ${modules} modules fit ${modelName}.`,
  keepingAdapter: 'Keeping the adapter',
  adapterNotKept: 'The adapter was not kept',
  standsUnderAdaptersLeft: 'It stands under Adapters at the left.',
  renaming: 'Renaming',
  adapterNotRenamed: 'The adapter was not renamed',
  deleting: 'Deleting',
  adapterNotDeleted: 'The adapter was not deleted',
  making: (name: Value) => `Making ${name}`,
  notMade: (name: Value) => `${name} was not made`,
  standsTopList: 'It stands at the top of the list.',
  saving: 'Saving',
  adapterNotSaved: 'The adapter was not saved',
  merging: 'Merging',
  modelNotMerged: 'The model was not merged',
  mergingMb: (bytes: Value) => `Merging, ${bytes} MB`,
  comparing: 'Comparing',
  comparisonFailed: 'The comparison failed',
  promptEmptyWriteOne: 'The prompt is empty. Write one, then compare.',
  turn: (done: Value, total: Value) => `Turn ${done} of ${total}`,
} as const;

export const adapterShelfWindow = {
  modulesRankParametersWOpened: (
    modules: Value,
    targets: Value,
    ranks: Value,
    parameters: Value,
    norm: Value,
    modelName: Value,
  ) =>
    `${modules} modules on ${targets}, rank ${ranks}, ${parameters} parameters, ‖ΔW‖ ${norm}. Opened on ${modelName}.`,
  takeHome: 'Take home',
  loadModelFitsFirst: 'Load the model that it fits first.',
  strength: 'Strength',
  makeAnother: 'Make another',
  name: 'Name',
  note: 'Note',
  keep: 'Keep',
  numberFormat: 'Number format',
  peftZip: 'PEFT zip',
  zipPeftFolderModel:
    'A zip of a PEFT folder, with a model card: PEFT, transformers and vLLM take it.',
  ggufLora: 'GGUF LoRA',
  oneFileLlamaCpp: 'One file for llama.cpp: llama-server --lora takes it.',
  mergeIntoModelUse: 'Merge into the model in use',
  gguf: (type: Value) => `GGUF in ${type}`,
  adapterChangesWeightsFrobenius: (
    name: Value,
    change: Value,
    type: Value,
    error: Value,
    value: Value,
  ) =>
    `${name}: the adapter changes the weights by ${change} (Frobenius norm); storing them in ${type} is off by ${error}, which is ${value} % of the change.`,
  muchWhatLearnedLost:
    ' Much of what was learned is lost in rounding: take F16, or keep the adapter apart.',
  otherMatricesChangedTheir: (tensors: Value, error: Value) =>
    ` ${tensors} other matrices changed their number format (off by ${error}).`,
  keepLargest: 'Keep the largest',
  modules: (kept: Value, modules: Value) => `${kept} of ${modules} modules`,
  prune: 'Prune',
  newAdapterWithoutModules:
    'A new adapter without the modules whose change has the smallest norms.',
  largest: (name: Value, kept: Value) => `${name}, largest ${kept}`,
  secondAdapterDifferenceMixture: 'With a second adapter: difference and mixture.',
  with: 'With',
  difference: 'Difference',
  adapterMinusOtherWhat: 'This adapter minus the other: what it has learned beyond it. Ranks add.',
  mix: 'Mix',
  tAdapterTOther: '(1 − t) of this adapter and t of the other. Ranks add.',
  modulesCouldNotRead: 'The modules could not be read',
  modulesNorm: 'Modules by norm',
  module: 'module',
  rank: 'rank',
  alpha: 'alpha',
  w: '‖ΔW‖',
  shareLargest: 'share of the largest',
  norm: (name: Value) => `norm of ${name}`,
} as const;

export const adapterShelf = {
  adaptersBrowser: 'Adapters in this browser',
  open: 'Open…',
  opensLoraModelUse:
    'Opens a LoRA for the model in use: a GGUF, a zip of a PEFT folder, or adapter_config.json and adapter_model.safetensors together. Dropping them on the page works too.',
  loadModelAdapterFitsFirst: 'Load the model that the adapter fits first.',
  adapter: 'An adapter',
  comparePrompt: 'Compare on a prompt',
  runsOnePromptBase:
    'Runs one prompt with the base and with adapters, and shows token by token which of them finds it likelier.',
  noAdaptersYetOpen:
    "No adapters yet. Open one from a file, or keep a run's with “Keep adapter” at the head of the run.",
  notOpened: (name: Value) => `${name} was not opened`,
  noAdapterDropPageInstead: 'It is no adapter: drop it on the page instead.',
  rankW: (ranks: Value, modules: Value, norm: Value) => `rank ${ranks} · ${modules} · ‖ΔW‖ ${norm}`,
  notModelUse: ', not the model in use',
  deleteAdapter: (name: Value) => `Delete the adapter: ${name}`,
} as const;

export const app = {
  opening: 'Opening…',
  dropModelAdapterGguf:
    'Drop a model or an adapter (.gguf, .zip), a run (.attt.zip, .jsonl), settings (.toml, .json) or a world (scene.json, game.tw-pddl)',
  setup: 'Setup',
  runs: 'Runs',
  adapters: 'Adapters',
  setupRunsAdapters: 'Setup, runs and adapters',
  whatSideShows: 'What this side shows',
  appName: 'aTTT Lab',
  doneStepsAppName: (t: Value) => `Done, ${t} steps · aTTT Lab`,
  pausedStepAppName: (t: Value) => `Paused, step ${t} · aTTT Lab`,
  stepAppName: (t: Value) => `Step ${t} · aTTT Lab`,
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
  askedYou: ', asked by you',
  record: 'record',
  json: 'JSON',
  tokens: 'tokens',
  showTokens: 'show its tokens',
  boundaryAfterStep: (t: Value) => `Boundary after step ${t}`,
  notMeasuredUpdate: 'not measured at this update',
} as const;

export const capabilities = {
  whatComputes: 'What computes here',
  engineNotAnsweredYet: 'The engine has not answered yet.',
  restartEngine: 'Restart the engine',
  stopRunFirst: 'Stop the run first.',
  probesAgainAfterChange:
    'Probes again, after a change of browser settings or a lost device. Stored runs are kept.',
  bestThere: 'the best there is',
  graphicsCardWebgpu: 'the graphics card (WebGPU)',
  processorWasmWhereEqual: 'the processor (WASM), where equal runs are equal bit for bit',
  compute: 'Compute with',
  graphicsCardThroughWebgpu: 'The graphics card, through WebGPU.',
  processorThroughWebAssembly: 'The processor, through WebAssembly.',
  processorPlainJavaScript: 'The processor, in plain JavaScript.',
  webgpuBrowser: 'WebGPU in this browser',
  graphicsAdapter: 'A graphics adapter',
  device: 'A device on it',
  bitShaders: '16-bit shaders',
  crossOriginIsolation: 'Cross-origin isolation',
  storage: 'Storage',
  fine: ': fine.',
  notAvailable: ': not available.',
} as const;

export const chartSpecs = {
  repetition: 'Repetition',
  drift: 'Drift',
  updateLoss: 'Update loss',
  updatesRollbacks: 'Updates and rollbacks',
  reward: 'Reward',
  novelty: 'Novelty',
  gradientNorm: 'Gradient norm',
  jaccard: 'Jaccard, 0 to 1',
  step: 'step',
  rK: 'r_k',
  rKLimit: 'r_k limit',
  klEpisodeStartNats: 'KL to the episode start, nats',
  kl: 'KL',
  context: 'in context',
  klLimit: 'KL limit',
  natsPerToken: 'nats per token',
  before: 'before',
  after: 'after',
  far: 'so far',
  updates: 'updates',
  rollbacks: 'rollbacks',
  summed: 'summed',
  rewardLabel: 'reward',
  rKTitle: '1 − r_k',
  noveltyLabel: 'novelty',
  threshold: 'threshold',
  beforeClipping: 'before clipping',
  firstStep: 'first step',
  lastStep: 'last step',
  clipped: 'clipped to',
} as const;

export const charts = {
  charts: 'Charts',
  stepsShowAll: (start: Value, end: Value) => `Steps ${start} to ${end}: show all`,
  dragAcrossChartZoom: 'Drag across a chart to zoom.',
  smoothing: 'smoothing',
  exponentialMovingAverageWeight:
    'Exponential moving average: the weight of what came before. The raw line stays, faint. 0 smooths nothing.',
  off: 'off',
  chartShows: (place: Value) => `Chart ${place} shows`,
  logarithmicAxis: (title: Value) => `${title}: logarithmic axis`,
  logarithmicAxisShowsSmall:
    'A logarithmic axis shows small drifts and the limit together; a linear one shows how far the limit is.',
  linear: 'linear',
  log: 'log',
  numbersTable: (title: Value) => `${title}: numbers as a table`,
  numbersTableCopySave: 'The numbers as a table, to copy or save.',
  step: 'step',
  nothingMeasuredYet: 'Nothing measured yet.',
  drawing: 'Drawing…',
  raw: ' raw',
} as const;

export const command = {
  saveRunBesideFirst: (names: Value) => `Save ${names} of this run beside it first.`,
  taskCameFilePut: 'This task came from a file: put that file where the command can read it.',
} as const;

export const compareActions = {
  notesCouldNotRead: 'The notes could not be read',
  runCouldNotRead: 'A run could not be read',
  notAdded: (name: Value) => `${name} was not added`,
  noteNotSaved: 'The note was not saved',
} as const;

export const compareNumbers = {
  repetition: 'Repetition',
  klEpisodeStartNats: 'KL to the episode start (nats)',
  updateLossBeforeNats: 'Update loss before (nats)',
  updatesFar: 'Updates so far',
  reward: 'Reward',
  noveltyRK: 'Novelty 1 − r_k',
  observeOnly: (method: Value) => `${method}, observe only`,
  success: 'success',
  meanRepetition: 'mean repetition',
  lastKl: 'last KL',
  modelSha256: 'model sha256',
} as const;

export const compare = {
  compareRuns: 'Compare runs',
  chooseRunsTable: 'Choose runs in the table.',
  chosen: (runs: Value) => `${runs} chosen`,
  closeComparison: 'Close the comparison',
  whereTheirSettingsDiffer: 'Where their settings differ',
  nowhereModelTaskEvery: 'Nowhere: model, task and every setting are the same.',
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
  engineRestarted: 'The engine was restarted.',
  engineWorkerStoppedError: (message: Value) =>
    `The engine worker stopped with an error that nobody caught: ${message}`,
  engineWorkerCouldNot:
    'The engine worker could not be started. Its script may be missing or blocked; reload the page.',
  messageEngineWorkerCould: 'A message from the engine worker could not be read.',
  engineNotRunningRestart: 'The engine is not running. Restart it, then try again.',
} as const;

export const finalValues = {
  whatCameOut: 'What came out',
  runsCameEndSuccess:
    'Runs that came to an end. Success with Wilson’s 95 % interval, the others with mean ± 1.96 standard errors.',
  csv: 'CSV',
  method: 'method',
} as const;

export const findBar = {
  searchTranscript: 'Search the transcript',
  search: 'Search  ( / )',
  notFound: 'not found',
  of: (at: Value, all: Value) => `${at} of ${all}`,
  stepFoundBeforeOne: 'The step found before this one',
  nextStepFound: 'The next step found',
  showOnly: 'Show only',
  ofShownItems: (shown: Value, items: Value) => `${shown} of ${items}`,
} as const;

export const find = {
  everything: 'everything',
  stepsChangedWorld: 'steps that changed the world',
  stepsWithoutEffect: 'steps without effect',
  failedActions: 'failed actions',
  repetition: (repeatingFrom: Value) => `repetition ≥ ${repeatingFrom}`,
  boundaries: 'boundaries',
  updates: 'updates',
  boundariesWithoutUpdate: 'boundaries without update',
  rollbacks: 'rollbacks',
} as const;

export const forkDialog = {
  forkStep: (t: Value) => `Fork from step ${t}`,
  newRunWritesFirst: (steps: Value) =>
    `The new run writes the first ${steps} of this one again, word by word, trains on them under the settings of the form at the left, and then goes its own way. This run stays as it is.`,
  formSettingsRunChange:
    'The form has the settings of this run. Change some first, or fork as it is to repeat it.',
  run: 'in this run',
  fork: 'in the fork',
  forkTitle: 'Fork',
  takeSettingsRunIntoForm: 'Take the settings of this run into the form',
  settingFormCannotUsedMarked: 'A setting of the form cannot be used; it is marked.',
} as const;

export const header = {
  writing: 'writing',
  writingAt: (rate: Value) => `writing · ${rate} tokens/s`,
  working: 'working',
  appName: 'aTTT Lab',
  agenticTestTimeTrainingTab: 'Agentic test-time training, in this tab',
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
  clickForDetails: (reason: Value) => `${reason}\nClick for the details.`,
  lookingGraphicsCard: 'Looking for a graphics card.',
  backendDetails: 'backend: details',
  notifyMeWhenRunEnds: 'Notify me when a run ends',
  youNotifiedWhenRun:
    'You are notified when a run ends while this tab is hidden. Click to switch it off.',
  notifyMeWhenRun: 'Notify me when a run ends while this tab is hidden.',
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
  tokensUpdate: 'Tokens of an update',
  firstBoundaryComesAfter: (updateIntervalK: Value) =>
    `The first boundary comes after step ${updateIntervalK}. Then the text it trains on is shown here, token by token.`,
  noBoundaryRunRecordedTokens: 'No boundary of this run recorded its tokens.',
  whatColourSays: 'What the colour says',
  oneScale: 'one scale',
  oneScaleWholeRun: 'One scale for the whole run keeps colours comparable between boundaries.',
  text: 'text',
  all: 'all',
  kept: (kept: Value) => `kept ${kept}`,
  keptLabel: 'kept',
  textOneBoundaryAll:
    'The text of one boundary, all boundaries of the run as rows of cells, or the tokens that you clicked, as a table.',
  oneBoundaryAll: 'One boundary or all',
  saveTokensAllBoundaries: 'Save the tokens of all boundaries',
  savesAllBoundariesPicture: 'Saves all boundaries: a picture (SVG, PNG) or every number (CSV).',
  picturesShowWhiteRow: (title: Value) =>
    `The pictures show “${title}” on white, a row a boundary, one scale. The CSV has every number of every token.`,
  step: (t: Value) => `step ${t}`,
  boundaryBefore: 'The boundary before',
  boundaryAfter: 'The boundary after',
  tokensBoundaryAfterStep: (t: Value) => `Tokens of the boundary after step ${t}`,
  noTokenBoundaryTrained: 'No token of this boundary was to be trained.',
  crossEntropyMeasuredWhere:
    'Cross entropy is measured where a boundary trains or observes; this one did not. The weights are known.',
  crossEntropyMeasuredWhereBoundary:
    'Cross entropy is measured where a boundary trains; this one did not. The weights are known.',
  klEntropyEachToken:
    'KL and entropy of each token are measured after an update, as often as the settings say; here they were not.',
  nats: ' nats',
} as const;

export const help = {
  kJ: '← → or k j',
  stepBeforeStepAfter: 'the step before, the step after',
  boundaryBeforeBoundaryAfter: 'the boundary before, the boundary after',
  homeEnd: 'Home End',
  firstStepNewestOne: 'the first step, the newest one (and follow the run)',
  space: 'Space',
  pauseResumeRunProgress: 'pause or resume the run in progress; play or halt a recorded one',
  searchTranscriptEnterGoes: 'search the transcript; Enter goes from place to place',
  escape: 'Escape',
  closeWhatOpenThen: 'close what is open; then back to the newest step',
  window: 'this window',
  tokens: '← → in the tokens',
  tokenBeforeTokenAfter: 'the token before, the token after; Enter keeps one in the table',
  help: 'Help',
  idea: 'The idea',
  languageModelActsLong:
    'A language model that acts in a long task starts to loop. Here a small adapter is trained on its own words while it acts, and each word counts by how new it is. When the model repeats itself too closely, or drifts too far, the adapter goes back to where the episode began.',
  howBegin: 'How to begin',
  modelsGgufRunsJsonl:
    'Models (.gguf), runs (.jsonl), worlds (scene.json, game.tw-pddl) and settings (config.toml, settings.json) open when they are dropped anywhere on the page. Nothing leaves this tab, unless you connect a server.',
  moveAlongLineTop:
    'Move along the line at the top to read any step. Each card in the transcript says why there was an update, or why there was none. The tokens of that update are coloured on the right.',
  pressRunBundledPolicy: 'Press “Run the bundled policy”. Nothing has to be set or downloaded.',
  takeTour: 'Take the tour',
  keys: 'Keys',
  words: 'Words',
} as const;

export const live = {
  run: 'Run',
  runStarted: 'The run has started.',
  step: (t: Value, action: Value) => `Step ${t}: ${action}.`,
  stepNoAction: (t: Value) => `Step ${t}: no action.`,
  rolledBackEpisodeStart: 'Rolled back to the episode start.',
  thereNothingRollBack: 'There was nothing to roll back.',
} as const;

export const load = {
  summaryServerNotConnected: 'The summary server was not connected',
  listModelsCouldNotRead: 'The list of models could not be read',
  modelUse: 'The model is in use',
  episodeRunningStopRunFirst: 'An episode is running on it. Stop the run first.',
  notLoaded: (ref: Value) => `${ref} was not loaded`,
  serverNotConnected: 'The server was not connected',
  memoryCouldNotEstimated: 'The memory could not be estimated',
  modelNotDeleted: 'The model was not deleted',
  modelsNotDeleted: 'The models were not deleted',
  bundledPolicy: 'the bundled policy',
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
  kvCacheLargestPart: (context: Value, trained: Value) =>
    `The KV cache is the largest part: a shorter context than ${context} tokens makes it smaller (settings, Policy; the model was trained for ${trained}).`,
  adapterOptimiserLargestPart:
    'The adapter and its optimiser are the largest part: a lower rank or fewer target modules make them smaller.',
  weightsLargestPartChoose:
    'The weights are the largest part: choose a smaller model, or WebGPU, where weights stay quantised.',
} as const;

export const modelCard = {
  model: 'Model',
  noModelLoadedYet: 'No model is loaded yet.',
  settingsNameNotLoaded: (named: Value, name: Value) =>
    `The settings name “${named}”, which is not loaded in this tab. A run uses ${name}.`,
  anotherModel: 'Another model',
  keyValue: (kvHeads: Value) => ` / ${kvHeads} key-value`,
  tokens: (contextLength: Value) => `${contextLength} tokens`,
  licence: 'licence',
  server: 'on a server',
  camePage: 'Came with the page.',
  downloadedNextTimeReadBrowser: 'Downloaded; next time it is read from this browser.',
  readBrowserNothingDownloaded: 'Read from this browser; nothing was downloaded.',
  readFileComputer: 'Read from a file of this computer.',
  computedServer: 'Computed by a server.',
} as const;

export const modelLoading = {
  rate: (bytes: Value) => ` · ${bytes}/s`,
  downloading: 'Downloading',
  cacheBrowserNothingDownloaded: 'From the cache of this browser, nothing is downloaded',
  readingFile: 'Reading the file',
  movingWeightsDevice: 'Moving weights to the device',
  warming: 'Warming up',
  pause: 'Pause',
  keepsWhatComeAlso: 'Keeps what has come, also when the tab is closed; Resume goes on from there.',
  cancel: 'Cancel',
  endsDownloadDeletesWhatCome: 'Ends the download and deletes what has come.',
  mayNotFitNeedsAbout: (name: Value, memory: Value) =>
    `${name} may not fit: it needs about ${memory}`,
  thereAbout: (bytes: Value, what: Value) => `, and there are about ${bytes} (${what})`,
  loadAnyway: 'Load it anyway',
  loading: (label: Value) => `Loading ${label}`,
  readingHeader: 'Reading the header',
  of: (bytes: Value, total: Value) => ` · ${bytes} of ${total}`,
  left: (left: Value) => ` · ${left} left`,
} as const;

export const modelServer = {
  modelServer: 'Model on a server',
  llamaServerVllmAnother:
    'llama-server, vLLM or another OpenAI-compatible server with log-probabilities acts; its weights cannot be trained from here. The key is kept for this session only.',
  modelAdapterName: 'model or adapter name',
} as const;

export const serverForm = {
  adapterOnDisk: (of: Value) => `Adapter on the disk of the ${of}`,
  adapterOnDiskHelp:
    "A path on the server's disk: a PEFT folder for vLLM, a GGUF file that llama-server was started with. This page cannot send it one.",
  adapterPath: 'path of an adapter there, or nothing',
  address: (of: Value) => `Address of the ${of}`,
  nameModel: (of: Value) => `Name of the model on the ${of}`,
  key: (of: Value) => `Key of the ${of}`,
  keyWhereWantsOne: 'key, where it wants one',
  asking: 'Asking…',
  connect: 'Connect',
} as const;

export const summaryServer = {
  at: 'at',
  writesSummariesSentTask:
    'writes the summaries. It is sent the task and the steps so far; its key is kept for this session only.',
  letPolicyWriteThem: 'Let the policy write them',
  policyWritesSummariesItself:
    'The policy writes the summaries itself. Or let a model on an OpenAI-compatible server do it:',
  summariesComeConnectServer: (model: Value) =>
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
  smallLlamaComesPage:
    'A small llama that comes with the page. It was trained for the household world and needs no download.',
  ggufFile: 'GGUF file…',
  modelGgufFormatLlama:
    'A model in the GGUF format (llama, Qwen2, Qwen3, Gemma 3), from this computer; of a model in several files choose all. It is read in slices and not copied; dropping it on the page works too.',
  ggufFileTitle: 'A GGUF file',
  addressGgufFile: 'Address of a GGUF file',
  httpsGguf: 'https://… .gguf',
  load: 'Load',
  keptBrowser: 'Kept in this browser',
  modelsKeptBrowser: 'Models kept in this browser',
  delete: (models: Value) => `Delete ${models}`,
  keep: 'Keep',
  all: (bytes: Value) => `${bytes} in all`,
  deleteAll: 'Delete all…',
  loadsBrowserWithoutDownload: 'Loads it from this browser, without a download.',
  goesDownload: 'Goes on with the download.',
  of: (bytes: Value, whole: Value) => `${bytes} of ${whole}`,
  resume: 'Resume',
  deleteBrowser: (name: Value) => `Delete ${name} from this browser`,
  deleteBrowserLastUsed: (lastUsed: Value) => `Delete from this browser. Last used ${lastUsed}.`,
} as const;

export const notices = {
  restartEngine: 'Restart the engine',
  dismiss: (title: Value) => `Dismiss: ${title}`,
} as const;

export const notify = {
  notificationsOff: 'Notifications are off',
  browserDoesNotAllow:
    'This browser does not allow this page to notify you. The title of the tab tells how far a run is.',
  runStoppedError: 'The run stopped with an error',
  appName: (title: Value) => `aTTT Lab: ${title}`,
} as const;

export const overlay = {
  overSteps: 'Over the steps',
  whatLinesShow: 'What the lines show',
  groupMethod: 'group by method',
  oneLineMethodMean:
    'One line a method: the mean of its runs, with mean ± 1.96 standard errors around it.',
  noneChosenRunsMeasured: 'None of the chosen runs measured this.',
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
  theyRunOneAfter:
    'They run one after another with the settings as they are now, every method on the same tasks and seeds. Each is kept as a run of its own.',
  tasks: 'Tasks of',
  split: 'the split',
  seeds: 'Seeds',
  methods: 'Methods',
  leftOut: (name: Value, notApplicable: Value) => `${name} is left out: ${notApplicable}`,
  runThem: 'Run them',
  cancel: 'Cancel',
  taskFileNoPart: 'A task from a file is no part of a split: choose a split first.',
  tasksWantNumbersSuch: 'Tasks want numbers such as 0-9 or 0,3,7.',
  seedsWantNumbersSuch: 'Seeds want numbers such as 1-3 or 1,5.',
  chooseOneMethodMore: 'Choose one method or more.',
  readingTasks: 'Reading the tasks …',
  sum: (episodes: Value, tasks: Value, seeds: Value, arms: Value) =>
    `${episodes}: ${tasks} × ${seeds} × ${arms}`,
  openExperiment: 'Open an experiment…',
  tomlFile: 'A TOML file with tasks, seeds, methods and sweeps, as `attt experiment` runs it.',
  experimentNotOpened: 'The experiment could not be opened',
  settingsAreFiles:
    'Settings are the file’s. Episodes that have a run in this browser already, made with this model and engine, are not run again.',
  chooseByHand: 'Choose by hand',
} as const;

export const queue = {
  noSuchTasks: (file: Value, env: Value, split: Value, known: Value) =>
    `${file}: there is no ${env} ${split} here; there is ${known}. Correct env or split, then open it again.`,
  notRun: 'The episodes could not be run',
  someAreThere: (there: Value, all: Value) =>
    `${there} of ${all} episodes have a run here already; the others are run.`,
} as const;

export const recordDialog = {
  whatRecorded: (title: Value) => `${title}: what was recorded`,
  copied: 'Copied',
  copy: 'Copy',
  jsonl: 'JSONL',
  browserDoesNotAllow: 'The browser does not allow copying here: select the text.',
} as const;

export const reportDialog = {
  report: 'Report',
  openExperiment: 'Open an experiment…',
  html: 'HTML',
  chooseExperimentJsonRows: 'Choose experiment.json and its rows together, or drop them here.',
  reading: 'Reading…',
  foundExpectedExperimentJson: (names: Value) =>
    `Found ${names}; expected experiment.json and one or more rows files (.jsonl or .jsonl.gz) together.`,
} as const;

export const reportButton = {
  report: 'Report…',
  help: "Success, drift and cost by method, with paired tests: of all runs kept here, or of an experiment's rows.",
} as const;

export const report = {
  nothingChangedCheckFile: 'Nothing was changed.',
  settingsTheyBefore: 'The settings are as they were before.',
  checkAddressConnectionFile: 'A file on this computer can be opened instead.',
  deleteRunsModelsNo:
    'Delete runs or models that are no longer needed; the run on screen can still be saved.',
  clickBadgeTopSee: 'Click the badge at the top to see which step failed and what to do about it.',
  eventsFarKeptRestart: 'The events so far are kept. Restart the engine, then run again.',
  chooseSmallerModelShorter: 'Choose a smaller model, a shorter context or a lower rank.',
  eventsFarKeptTry:
    'The events so far are kept. Try again, or raise the time limit in the settings.',
  agentNotBlameTry: 'The agent is not to blame. Try another task, or run again.',
  eventsFarKeptIf: 'The events so far are kept. If it happens again, restart the engine.',
  somethingPageWentWrong: 'Something on the page went wrong',
} as const;

export const runBar = {
  runControls: 'Run controls',
  goSpace: 'Go on. (Space)',
  pauseAfterStepProgressSpace: 'Pause after the step in progress. (Space)',
  resume: 'Resume',
  pause: 'Pause',
  run: 'Run',
  runOneEpisodeChosen: 'Run one episode of the chosen task with the settings on the left.',
  step: 'Step',
  doOneStepThenPause: 'Do one step, then pause.',
  stop: 'Stop',
  endRunQueueWithin:
    'End the run and the queue within a second; everything up to here is kept, and the run can be resumed.',
  endRunWithinSecond:
    'End the run within a second; everything up to here is kept, and it can be resumed.',
  queue: 'Queue…',
  severalTasksSeedsMethods: 'Several tasks, seeds and methods, one episode after another.',
  afterStepProgressTrain:
    'After the step in progress, train on the update text now, whatever the period says.',
  asked: 'Asked',
  updateNow: 'Update now',
  afterStepProgressPut: 'After the step in progress, put the adapter back to the episode start.',
  rollBackNow: 'Roll back now',
  observeOnly: 'Observe only',
  nextRunEveryNumber:
    'For the next run: every number of a boundary is computed and recorded, and nothing is trained.',
} as const;

export const runHead = {
  nthTry: (n: Value) => `try ${n}`,
  observeOnly: ', observe only',
  closeRunGoBack: 'Close this run and go back to the one in progress',
  closeRun: 'Close this run',
  backRunProgress: 'Back to the run in progress',
  showsFrozenSettings: (where: Value) =>
    `${where}\nShows the settings that this run was started with; they cannot change.`,
  adapter: 'Adapter',
  runFileBringsNoAdapter: 'A run from a file brings no adapter.',
  savesAdapterPeftZip:
    'Saves the adapter as a PEFT zip: adapter_config.json and adapter_model.safetensors.',
  keepAdapter: 'Keep adapter',
  keep: 'Keep',
  putsAdapterStandsShelf:
    'Puts the adapter, as it stands, on the shelf under Adapters: to compare, merge and mix.',
  bundle: 'Bundle',
  savesWholeRunZip:
    'Saves the whole run as a zip: events, settings, tokens and metrics as tables, adapters, and scripts that recompute it. It opens here again by drop.',
  jsonl: 'JSONL',
  savesEveryEventRun:
    'Saves every event of the run, one JSON record a line; it opens here again by drop.',
  command: 'Command',
  commandRepeatsRunWithoutBrowser: 'The command that repeats this run without a browser.',
  state: 'state',
  readOnly: (name: Value) => `${name} · read only`,
  storedRunReadOnly: 'Stored run · read only',
  end: 'end',
  step: 'step',
  of: (t: Value, stepLimit: Value) => `${t} of ${stepLimit}`,
  updates: 'updates',
  rollbacks: 'rollbacks',
  repetition: 'repetition',
  go: 'go on',
  resumeStep: (steps: Value) => `Resume from step ${steps}`,
  goesWhereRunEnded:
    'Goes on where the run ended: what was written is repeated, not sampled again.',
  settingsRun: 'Settings of this run',
  everySettingDefault: 'Every setting was at its default.',
  settingsDifferTheirDefaults: (changed: Value, fields: Value) =>
    `${changed} of ${fields} settings differ from their defaults.`,
  showAll: 'show all',
  runLabel: 'in this run',
  default: 'default',
  useNextRun: 'Use for the next run',
  repeatRunCommandLine: 'Repeat this run from the command line',
  copied: 'Copied',
  copy: 'Copy',
  runCheckoutProjectAfter: (note: Value) =>
    `${note} Run it in a checkout of this project, after npm ci. Equal settings and seed on the same backend give the same events.`,
  browserDoesNotAllow: 'The browser does not allow copying here: select the line. ',
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
  allRuns: 'All runs',
  filterRuns: 'Filter the runs',
  filterMethodTaskTagNote: 'Filter: method, task, tag, note …',
  of: (rows: Value, all: Value) => `${rows} of ${all}`,
  addFiles: 'Add files…',
  runsJsonlCompare: 'Runs as JSONL to compare',
  csv: 'CSV',
  chooseAllRunsShown: 'Choose all runs shown',
  noRunsYetRun: 'No runs yet. Run an episode, or add files of runs.',
  compareRun: (createdAt: Value, goal: Value) => `Compare the run of ${createdAt}: ${goal}`,
  tagsApartBlanks: 'Tags, apart by blanks',
  noteTitle: 'Note',
  add: 'add',
  interrupted: 'Interrupted',
} as const;

export const runView = {
  writing: 'writing',
  recordedDemoRun: 'Recorded demo run',
  updatesOff: 'Updates off',
  trainingSwitchedOffRun: 'Training is switched off in this run.',
  tooEarly: 'Too early',
  boundaryCameBeforeFirst: 'The boundary came before the first step at which this run may train.',
  noText: 'No text',
  thereNothingUsableTrain: 'There was nothing usable to train on.',
  rolledBackRepetition: 'Rolled back: repetition',
  repetitionOverLimit: 'Repetition over its limit',
  updateTextRepeatsEarlier:
    'The update text repeats an earlier one too closely, so the adapter went back to the episode start.',
  mostUpdatesReached: 'Most updates reached',
  episodeHadManyUpdates: 'This episode has had as many updates as its settings allow.',
  skippedTooLittleNew: 'Skipped: too little new',
  noveltyRKUnder: 'Novelty 1 − r_k was under its threshold, so nothing was trained.',
  observedOnly: 'Observed only',
  wouldTrainedObserveOnly:
    'It would have trained; in observe-only mode everything is measured and nothing is trained.',
  updated: 'Updated',
  adapterTrainedUpdateTextKept: 'The adapter was trained on the update text and kept.',
  rolledBackKl: 'Rolled back: KL',
  klOverLimit: 'KL over its limit',
  afterTrainingPolicyHad:
    'After training, the policy had moved further from the episode start than the KL limit allows.',
  discardedHeldTextsGotWorse: 'Discarded: held texts got worse',
  quickValidationTextsNever:
    'Quick validation: texts that were never trained on became less likely, so this update alone was undone.',
  changedWorld: 'changed the world',
  worldAcceptedActionChanged: 'The world accepted the action and changed.',
  noEffect: 'no effect',
  worldAcceptedActionBut:
    'The world accepted the action, but nothing changed; looking around is of this kind.',
  notAdmissible: 'not admissible',
  actionReadTextBut:
    'An action was read from the text, but the world does not accept it in this state.',
  noAction: 'no action',
  noActionCouldReadText: 'No action could be read from the text.',
  cutOff: 'cut off',
  limitTokensPerStep: 'The limit of tokens per step ended the text before an action.',
  solved: 'Solved',
  worldSaysGoalHolds: 'The world says that the goal holds.',
  failed: 'Failed',
  worldEndedTaskWithoutReward: 'The world ended the task without a reward.',
  stepLimitReached: 'Step limit reached',
  episodeCutStepLimit: 'The episode was cut at its step limit; the task counts as not solved.',
  contextFull: 'Context full',
  conversationNoLongerFits: 'The conversation no longer fits into the context of the model.',
  stoppedYou: 'Stopped by you',
  everythingKept: 'Everything up to here is kept.',
  worldFailed: 'The world failed',
  taskEnvironmentCrashedTook:
    'The task environment crashed or took too long. This is not a failure of the agent.',
  engineFailed: 'The engine failed',
  modelTrainingStoppedError:
    'The model or the training stopped with an error. Everything up to here is kept.',
  readingConversation: 'reading the conversation',
  actingWorld: 'acting in the world',
  trainingAdapter: 'training the adapter',
  measuringDrift: 'measuring the drift',
  savingAdapter: 'saving the adapter',
  repeatingWhatRecorded: 'repeating what was recorded',
} as const;

export const running = {
  noTaskChosenChoose: 'No task is chosen. Choose a split and a task first.',
  madeFileComputerOpen: (modelName: Value) =>
    `It was made with ${modelName}, a file of this computer. Open that file first, then resume.`,
  engineDidNotTakeCommand: 'The engine did not take the command',
  settingValueCannotUsedMarked: 'A setting has a value that cannot be used; it is marked.',
  episodeEndedError: 'The episode ended with an error',
  runStoppedError: 'The run stopped with an error',
  runNotStarted: 'The run was not started',
} as const;

export const runsList = {
  keptHere: 'Kept here',
  compare: 'Compare',
  allRunsTableSeveral:
    'All runs as a table, and several of them in one chart, table or side by side.',
  open: 'Open…',
  opensRunSavedBundle:
    'Opens a run that was saved as a bundle or as JSONL, read only; dropping it on the page works too.',
  runBundleJsonl: 'A run as a bundle or JSONL',
  noRunsYetEach:
    'No runs yet. Each run is kept here step by step, also when the tab is closed in the middle.',
  running: 'Running',
  interrupted: 'Interrupted',
  seed: (createdAt: Value, modelName: Value, seed: Value) =>
    `${createdAt} · ${modelName} · seed ${seed}`,
  resume: 'Resume',
  goesWhereEndedWhat: 'Goes on where it ended: what was written is repeated, not sampled again.',
  deleteRun: (goal: Value) => `Delete the run: ${goal}`,
} as const;

export const saveButtons = {
  svg: 'SVG',
  png: 'PNG',
  pictureNotSaved: 'The picture was not saved',
  csv: 'CSV',
} as const;

export const savePicture = {
  browserCouldNotDraw: (width: Value, height: Value) =>
    `The browser could not draw ${width} × ${height} pixels. Save the SVG instead.`,
} as const;

export const scrubber = {
  noAction: 'no action',
  stepBefore: 'The step before',
  stepScreen: 'Step on screen',
  eachBarStepHigh:
    'Each bar is a step, as high as it repeats an earlier one; brown and red bars did not reach the world. The marks above are the boundaries.',
  step: (step: Value, last: Value, action: Value, label: Value) =>
    `Step ${step} of ${last}: ${action}, ${label}`,
  noStepsYet: 'No steps yet',
  stepAfter: 'The step after',
  noSteps: 'no steps',
  haltPlayback: 'Halt the playback',
  playStepsBack: 'Play the steps back',
  playsRecordedStepsOne:
    'Plays the recorded steps one after another. (Space, where no run is in progress)',
  playbackSpeedChange: (speed: Value, faster: Value) =>
    `Playback speed ${speed}×; change to ${faster}×`,
  howFastPlaybackGoes: 'How fast the playback goes.',
} as const;

export const series = {
  nothingMeasuredYet: (name: Value) => `${name}: nothing measured yet.`,
  valuesLast: (name: Value, known: Value, low: Value, high: Value, last: Value) =>
    `${name}: ${known} values from ${low} to ${high}, the last ${last}.`,
} as const;

export const settingsForm = {
  policy: 'Policy',
  method: 'Method',
  whenUpdate: 'When to update',
  whenRollBack: 'When to roll back',
  run: 'Run',
  prompt: 'Prompt',
  summaryModel: 'Summary model',
  logging: 'Logging',
  settings: 'Settings',
  putsEverySettingBackDefault: 'Puts every setting back to its default.',
  allDefaults: 'All defaults',
  reset: (changed: Value) => `Reset ${changed}`,
  changesHoldNextRun: 'Changes hold for the next run; this one keeps its own.',
  open: 'Open…',
  savesModelsMethodRun: 'Saves models, method and run settings as config.toml.',
  savesTriggersRollbackLimits: 'Saves triggers, rollback limits and logging as settings.json.',
  configTomlSettingsJson: 'A config.toml or settings.json',
  more: (folded: Value) => `${folded} more`,
  changed: (count: Value) => `${count} changed`,
  back: (label: Value, field: Value) => `${label}: back to ${field}`,
  backField: (field: Value) => `Back to ${field}`,
  default: (field: Value, unit: Value) => `Default ${field}${unit}`,
  fromTo: (standard: Value, min: Value, high: Value) => `${standard}, from ${min} to ${high}.`,
} as const;

export const settingsTable = {
  setting: 'setting',
} as const;

export const sideBySide = {
  seed: (index: Value, method: Value, seed: Value) => `${index}: ${method}, seed ${seed}`,
  sideSide: 'Side by side',
  runLeft: 'The run on the left',
  runRight: 'The run on the right',
  theyActAlikeEveryStep: 'They act alike at every step.',
  theyPartStep: (divergence: Value) => `They part at step ${divergence}`,
  mindTheseDifferentTasks: 'Mind that these are different tasks.',
  ended: 'has ended',
  none: '(none)',
} as const;

export const state = {
  startingEngine: 'Starting the engine.',
  engineReady: 'The engine is ready.',
  engineStopped: 'The engine stopped',
  restartEngineStoredRuns:
    'Restart the engine; stored runs and models are kept, the loaded model is loaded again.',
  engineStoppedTitle: 'The engine stopped.',
  loading: (label: Value) => `Loading ${label}.`,
  mayNotFitIntoMemory: (name: Value) => `${name} may not fit into memory.`,
  loaded: (name: Value) => `${name} is loaded.`,
  noModelLoaded: 'No model was loaded.',
  startingRun: 'Starting the run.',
  runEnded: 'The run has ended.',
  opened: (name: Value) => `Opened ${name}.`,
} as const;

export const stepTools = {
  copiesAddressStepFiles:
    "Copies the address of this step; a file's run has to be opened again first.",
  copied: 'Copied',
  link: 'Link',
  json: 'JSON',
  everythingRecordedStepJson: 'Everything that was recorded at this step, as JSON.',
  world: 'World',
  whereEverythingWorldAfterStep: 'Where everything is in the world after this step.',
  fork: 'Fork',
  newRunTakesSteps:
    'A new run that takes the steps up to here over and goes on with other settings.',
  step: (t: Value) => `Step ${t}`,
} as const;

export const storageFoot = {
  deleteAll: 'Delete all…',
  deleteRuns: (runs: Value) => `Delete ${runs}`,
  keep: 'Keep',
  cannotBeUndone: 'This cannot be undone. “Export all” makes a copy first.',
  exportAll: 'Export all',
  everyRunBrowserOne:
    'Every run of this browser as one zip: a backup, or the way to another computer.',
  import: 'Import…',
  addsRunsExportedNotebook:
    'Adds the runs of an exported notebook; those that are here already stay as they are.',
  notebook: (notebookEnding: Value) => `A notebook (${notebookEnding})`,
  used: (usage: Value, quota: Value) => `${usage} of ${quota} used.`,
  browserKeepsUntilYouDelete: 'This browser keeps it until you delete it.',
  browserMayClearWhen: 'This browser may clear it when the disk runs short.',
  askNot: 'Ask it not to',
} as const;

export const tabsBanner = {
  anotherTab: 'Another tab',
  askingOtherTabStop: 'Asking the other tab to stop its run and step back …',
  notebookOpenAnotherTab:
    'The notebook is open in another tab. This one only reads: runs can be looked at, not started.',
  takeOver: 'Take over',
  runOtherTabStopped:
    'A run in the other tab is stopped first; it is kept and can be resumed here.',
} as const;

export const tabs = {
  tabOnlyReads: 'This tab only reads',
  notebookOpenAnotherTab:
    'The notebook is open in another tab, which writes to it. Take over here first, with the button at the top.',
} as const;

export const taskCard = {
  task: 'Task',
  world: 'World',
  split: 'Split',
  worldFile: 'A world from a file.',
  file: 'from a file',
  taskBefore: 'The task before',
  numberTaskSplit: 'Number of the task in its split',
  of: (known: Value) => `of ${known}`,
  taskAfter: 'The task after',
  anyTaskSplit: 'Any task of the split',
  goalToldWorld: 'Its goal is told by the world.',
  readingTasks: 'Reading the tasks…',
  oneWorldFile: 'one world from a file',
  worldFileLabel: 'world from a file…',
  opensSceneJsonGame:
    'Opens a scene.json or a game.tw-pddl of ALFWorld; dropping it on the page works too.',
  sceneJsonGameTwPddl: 'A scene.json or game.tw-pddl',
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
  natsBeforeAfter: (before: Value, after: Value) => `${before} → ${after} nats`,
  logP: 'log p',
  natsEntropy: (entropy: Value) => `${entropy} nats`,
  likely: 'likely',
  id: (id: Value) => `id ${id}`,
  gram: (n: Value) => `${n}-gram`,
  noneCoversOccurredBefore: 'none that covers it occurred before',
  before: 'before',
  once: 'once',
  times: (count: Value) => `${count} times`,
  textStep: ', in the text of step ',
} as const;

export const tokenMatrix = {
  row: (t: Value) => `step ${t}`,
  boundariesTokensEachColoured: (rows: Value, longest: Value, colour: Value) =>
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
  clickTokensTextAmong:
    'Click tokens in the text or among all boundaries: they are kept here side by side.',
  copied: 'Copied',
  copyCsv: 'Copy as CSV',
  emptyTable: 'Empty the table',
  takeOff: 'take off',
  takeTokenStepOffTable: (j: Value, t: Value) => `Take token ${j} of step ${t} off the table`,
} as const;

export const tokens = {
  tokenWeight: 'Token weight',
  repeated: 'repeated',
  new: 'new',
  crossEntropyBeforeNats: 'Cross entropy before (nats)',
  expected: 'expected',
  surprising: 'surprising',
  crossEntropyAfterNats: 'Cross entropy after (nats)',
  changeCrossEntropyNats: 'Change of cross entropy (nats)',
  likelier: 'likelier',
  lessLikely: 'less likely',
  klEpisodeStartNats: 'KL to the episode start (nats)',
  before: 'as before',
  moved: 'moved',
  entropyAfterNats: 'Entropy after (nats)',
  sure: 'sure',
  unsure: 'unsure',
} as const;

export const tour = {
  runPauseStepStop: 'Run, pause, step, stop',
  oneClickRunsEpisode:
    'One click runs an episode. The line shows every step with its marks: updates, skips, rollbacks. Arrow keys walk it.',
  whatAgentThoughtDidSaw: 'What the agent thought, did and saw',
  everyBoundaryCardSays:
    'At every boundary a card says in words whether the adapter was trained, and why not.',
  howRepetitionDriftLossWent: 'How repetition, drift and loss went',
  limitsDrawnLinesCursor:
    'Limits are drawn as lines. The cursor is the step that you are looking at.',
  howMuchEachTokenCounted: 'How much each token counted',
  tokenAgentHadWritten:
    'A token that the agent had written before weighs little, a new one fully. Hover one for its n-gram and its earlier counts.',
  whatNextRunMade: 'What the next run is made of',
  modelTaskSettingsUnder:
    'Model, task and settings, and under “Runs” what was run before. Everything opens by being dropped on the page.',
  whatComputes: 'What computes here',
  webgpuProcessorClickSee:
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
  noPartRunPassesFilter: 'No part of this run passes the filter.',
  followRun: 'Follow the run',
  whatPolicyGivenFirst: 'What the policy was given first',
  none: '(none)',
  repetitionLargestSimilarityWords: (repetition: Value, tokens: Value) =>
    `Repetition ${repetition}: the largest similarity of the words of this step with an earlier one. ${tokens} written.`,
  repetition: 'repetition',
  youAfterStep: (t: Value) => `by you after step ${t}`,
  rolledBack: 'Rolled back',
  adapterEpisodeStart: 'The adapter is as it was at the episode start.',
  thereNothingUndoAdapter: 'There was nothing to undo: the adapter was as at the episode start.',
  pausedResumeGoesStep: 'Paused. Resume goes on with this step.',
  after: (label: Value, steps: Value) => `${label} after ${steps}`,
  reward: (reward: Value) => `reward ${reward}`,
  wroteForNextTry: 'What the policy wrote for the next try:',
  wroteNothing: '(nothing)',
  recordEnds: 'The record ends here',
  runInterruptedBeforeEnd:
    'The run was interrupted before its end; everything up to here was kept.',
} as const;

export const welcome = {
  nothingLeaves: 'Nothing leaves your computer.',
  conversationGoesTo: (server: Value) =>
    `You connected a model at ${server}: the conversation is sent there, and nowhere else.`,
  summariesGoTo: (server: Value) =>
    `You connected a server for summaries at ${server}: what they sum up is sent there, and nowhere else.`,
  watchLanguageModelLearn: 'Watch a language model learn while it acts',
  smallModelLooksThings:
    'A small model looks for things in a simulated household, starts to repeat itself, and a [lora|LoRA adapter] is trained on its own words, right here in this tab, each word weighed by how new it is.',
  starting: 'Starting…',
  loadingModel: 'Loading the model…',
  run: (name: Value) => `Run ${name}`,
  runBundledPolicy: 'Run the bundled policy',
  openRecordedRun: 'Open a recorded run',
  takeTour: 'Take the tour',
  act: 'Act',
  eachStepPolicyPolicy:
    'At each step the [policy|policy] writes a [thought|thought] and one [action|action]; the world answers with an [observation|observation].',
  weighLearn: 'Weigh and learn',
  everyFewStepsAdapter:
    'Every few steps the adapter is trained on the last text. A repeated [ngram|n-gram] counts little, a new one fully.',
  guard: 'Guard',
  tooMuchRatioRepetition:
    'Too much [ratio|repetition] or [kl|drift] puts the adapter back to the start of the episode: a [rollback|rollback].',
  browserOffersWebgpuOne: 'This browser offers WebGPU; one other thing is missing',
  browserOffersWebgpuOther: (missing: Value) =>
    `This browser offers WebGPU; ${missing} other things are missing`,
  noWebgpuModelRuns: 'No WebGPU here: the model runs on the processor, slower',
  interruptedRun: 'An interrupted run',
  interruptedAfterEverythingThereKept: (steps: Value) =>
    `was interrupted after ${steps}. Everything up to there is kept.`,
  runTitle: 'A run',
  resumeStep: (steps: Value) => `Resume from step ${steps}`,
  read: 'Read it',
  notNow: 'Not now',
  wordsWrittenTwiceBefore:
    'The words that were written twice before weigh 1 / (1 + 2) = 0.33, the new ones 1.',
} as const;

export const worldPanel = {
  worldAfterStep: (t: Value) => `World after step ${t}`,
  holds: 'holds',
  holdsNothing: 'holds nothing',
  backTokens: 'Back to the tokens',
  worldCannotLookedInto: 'This world cannot be looked into.',
  replayingActions: 'Replaying the actions…',
  stepReplayedWorldNot: (broken: Value) =>
    `From step ${broken} on the replayed world is not the recorded one; it may come from another version.`,
  places: 'Places',
  agent: 'the agent is here:',
  open: 'open',
  closed: 'closed',
  empty: 'empty',
  paleThingsNeverNamed:
    'Pale things were never named to the agent. Marked ones moved or changed in this step.',
  noObservationNamedYet: 'No observation has named it yet.',
  namedFirstObservation: 'Named by the first observation.',
  lastNamedObservationStep: (at: Value) => `Last named by the observation of step ${at}.`,
  worldCouldNotReplayed: 'The world could not be replayed',
} as const;

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
