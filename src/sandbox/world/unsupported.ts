/** A field that the service has and the sandbox does not: refused by its name, never dropped. */
import { z } from 'zod'

export const unsupported = (why = '') =>
  z.never({ error: `is not supported by the sandbox${why === '' ? '' : `: ${why}`}` }).optional()
