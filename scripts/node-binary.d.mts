export function nodeBinary(major: number | string): string
