declare const validate: {
  (value: unknown): boolean
  errors?: null | readonly { readonly instancePath: string; readonly message?: string }[]
}
export default validate
