/** `T` in which every property that may be `undefined` is optional. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The properties that are not `undefined`, since an optional property must be absent (`exactOptionalPropertyTypes`). */
export const defined = <T extends object>(properties: T): Defined<T> =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as Defined<T>
