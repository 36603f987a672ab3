export function bundle(
  input: Readonly<Record<string, string>>,
  dir: string,
  options?: { readonly wholeUndici?: boolean },
): Promise<readonly string[]>
