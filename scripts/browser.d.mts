export const launchArgs: string[];
export function browserPath(): string | undefined;
