export function bundle(input: Readonly<Record<string, string>>, dir: string): Promise<readonly string[]>
