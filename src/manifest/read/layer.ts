/** The content of a document or shared file, before anything is merged. */
import type { DesiredAbsence, Policy, Price, Source } from '../../model/index.ts'
import type { Sourced } from '../yaml/tree.ts'
import { type AttributeSet, NO_ATTRIBUTES } from './attributes.ts'

export interface ComputeLayer {
  readonly source: Source
  readonly id?: Sourced<string>
  readonly renamedFrom?: string
  readonly profile?: Sourced<string>
  readonly own: AttributeSet
}

export interface ShapeLayer {
  readonly source: Source
  readonly protect?: Sourced<boolean>
  readonly primary?: ComputeLayer | DesiredAbsence
  readonly replicas: ReadonlyMap<string, ComputeLayer>
}

export interface RuleLayer extends ShapeLayer {
  readonly match: string
  readonly except: readonly string[]
  readonly expires?: boolean
}

export interface Layer {
  readonly prune?: Sourced<boolean>
  readonly parkOn?: Sourced<string>
  readonly price?: Sourced<Price>
  /** Seconds. */
  readonly skipExpiring?: Sourced<number>
  readonly policies: readonly Policy[]
  /** Includes the document's `restartWindow`, which a `restartWindow` under `defaults` overrides. */
  readonly defaults: AttributeSet
  readonly profiles: ReadonlyMap<string, AttributeSet>
  readonly branches: ReadonlyMap<string, ShapeLayer>
  readonly rules: readonly RuleLayer[]
}

export const EMPTY_LAYER: Layer = {
  policies: [],
  defaults: NO_ATTRIBUTES,
  profiles: new Map(),
  branches: new Map(),
  rules: [],
}
