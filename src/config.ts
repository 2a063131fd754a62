export type Settings = Record<string, never>;
