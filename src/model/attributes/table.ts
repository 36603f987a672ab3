/**
 * The attributes of a compute. A row defines everything about an attribute: parsing, validation, comparison, requests
 * and responses, `import`, `fmt`, snapshot files and the reference all use it.
 */
import { flag, type JsonSchema, only, text } from '../../base/index.ts'
import { POSTGRES_PRELOAD, POSTGRES_SETTINGS } from './postgres.ts'
import { type AttributeRow, oneField } from './row.ts'
import { SCALE_TO_ZERO } from './scale-to-zero.ts'
import { SIZE } from './size.ts'

/** 1 to 64 characters (the service's public OpenAPI), no control characters. */
export const COMPUTE_NAME_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,64}$'

/** In canonical order. */
export const ATTRIBUTES = {
  name: oneField('text', 'name', {
    path: 'name',
    isOwn: true,
    schema: text({
      pattern: COMPUTE_NAME_PATTERN,
      description: 'The name shown in the console. The name of a replica is its key.',
      examples: ['primary'],
      $comment: 'E_NAME',
    }),
    rule: 'a label: no restart is documented',
    impact: () => 'none',
  }),
  size: SIZE,
  scaleToZero: SCALE_TO_ZERO,
  disabled: oneField('flag', 'disabled', {
    path: 'disabled',
    schema: flag({ description: 'A disabled compute is suspended and cannot be started.', examples: [false] }),
    rule: "the service's public OpenAPI: disabling a compute suspends it",
    impact: (_before, disabled) => (disabled ? 'disconnect' : 'none'),
    absent: false,
    isImported: (disabled) => disabled,
  }),
  poolerEnabled: oneField('flag', 'pooler_enabled', {
    path: 'pooler.enabled',
    schema: flag({
      description: 'Has no effect. Whether a connection is pooled depends on the host name that the client uses.',
      examples: [true],
    }),
    rule: "the service's public OpenAPI: the field is inert, pooling is chosen by the host name",
    impact: () => 'none',
    isImported: () => false,
  }),
  poolerMode: oneField('text', 'pooler_mode', {
    path: 'pooler.mode',
    schema: only('transaction', { description: 'Has no effect.', examples: ['transaction'] }),
    rule: "the service's public OpenAPI: the field is inert",
    impact: () => 'none',
    isImported: () => false,
  }),
  passwordlessAccess: oneField('flag', 'passwordless_access', {
    path: 'passwordlessAccess',
    schema: flag({ description: 'Passed on to the API, which does not document the effect.', examples: [false] }),
    rule: 'no effect is documented, so a change counts as a possible restart',
    impact: () => 'may-restart',
    isImported: () => false,
  }),
  postgresSettings: POSTGRES_SETTINGS,
  postgresPreload: POSTGRES_PRELOAD,
} as const satisfies Readonly<Record<string, AttributeRow>>

/** Schema keywords for the maps that group several attributes. */
export const ATTRIBUTE_GROUPS: Readonly<Record<string, JsonSchema>> = {
  pooler: { description: 'Connection pooling.', examples: [{ enabled: true }] },
  postgres: {
    description: 'Postgres settings and libraries.',
    examples: [{ settings: { work_mem: '64MB' } }],
    $comment: 'E_POSTGRES',
  },
}
