/** Does the work while no other process that names this folder does. */
export function alone<T>(folder: string, work: () => Promise<T>): Promise<T>;
