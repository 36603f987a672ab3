/** Makes the `compute` commands respect protection and restart windows in the current folder's manifests. */

import type { Clock } from '../base/index.ts'
import {
  EspalierError,
  EXIT,
  formatWindow,
  hasErrors,
  type ObservedCompute,
  type ObservedProject,
  plainText,
} from '../model/index.ts'
import { openingOf } from '../model/window-opening.ts'
import { type ComputePermissions, permissionsIn } from '../planner/index.ts'
import { readManifests } from '../workflow/index.ts'
import type { Io } from './io.ts'
import { ifAny } from './manifests.ts'

/** If the current folder has no manifests, only the service's own branch protection applies. */
export const permissionsHere = async (
  project: ObservedProject,
  { cwd }: Io,
): Promise<(compute: ObservedCompute) => ComputePermissions> => {
  const manifests = await ifAny(readManifests([], { cwd }))
  if (manifests !== undefined && hasErrors(manifests.loaded.diagnostics)) {
    throw new EspalierError(
      'E_MANIFESTS',
      'The manifests in the current folder have errors, so it is not known which computes they protect.',
      {
        hint: 'Correct them (`espalier validate` shows the errors), or run this command in a folder without them.',
      },
    )
  }
  return permissionsIn(manifests?.loaded.desired ?? { documents: [] }, project)
}

/** A compute that would be deleted, or whose connections would end. */
export interface Interruption {
  /** How messages refer to the compute. */
  readonly title: string
  readonly isDelete: boolean
  readonly permissions: ComputePermissions
}

/**
 * @returns the computes whose restart window is closed, but overridden by `now`.
 * @throws {EspalierError} `E_PROTECTED`, which no flag overrides; `E_OUTSIDE_WINDOW` without `now`.
 */
export const enforcePermissions = <T extends Interruption>(
  all: readonly T[],
  now: boolean,
  clock: Clock,
): readonly T[] => {
  const violations = all.flatMap(({ title, isDelete, permissions: { undeletable } }) =>
    isDelete && undeletable !== undefined ? [`${title} cannot be deleted: ${plainText(undeletable)}.`] : [],
  )
  if (violations.length > 0) {
    throw new EspalierError('E_PROTECTED', `${violations.join('\n')}\nNothing was changed.`, {
      hint: 'No flag overrides this. Remove the protection first.',
    })
  }
  const closed = all.filter(({ permissions: { window } }) => window !== undefined && !opening(window, clock).isOpen)
  if (closed.length > 0 && !now) {
    throw new EspalierError(
      'E_OUTSIDE_WINDOW',
      `${closed.map((one) => closedMessage(one, clock)).join('\n')}\nNothing was changed.`,
      {
        hint: 'Run the command again while the window is open, or use --now to interrupt immediately.',
        exitCode: EXIT.scheduled,
      },
    )
  }
  return closed
}

const opening = (window: NonNullable<ComputePermissions['window']>, clock: Clock) => openingOf([window], clock.now())

const closedMessage = ({ title, permissions: { window } }: Interruption, clock: Clock): string => {
  if (window === undefined) return title
  const { opensLocally } = opening(window, clock)
  const when = opensLocally === undefined ? 'which does not open within a year' : `which opens ${opensLocally}`
  return `${title} may be interrupted only in its restart window: ${plainText(formatWindow(window))}, ${when}.`
}
