/** All stories in the order in which they are told. */
import { applies } from "./stories/apply.ts"
import { custom } from "./stories/custom.ts"
import type { Story } from "./stories/given.ts"
import { defaults } from "./stories/defaults.ts"
import { kinds } from "./stories/kinds.ts"
import { lists } from "./stories/lists.ts"
import { objects } from "./stories/objects.ts"
import { owners } from "./stories/owners.ts"
import { refusals } from "./stories/refusals.ts"
import { services } from "./stories/services.ts"
import { wire } from "./stories/wire.ts"

export type { Story }

export const stories: readonly Story[] = [
  ...objects,
  ...lists,
  ...applies,
  ...refusals,
  ...owners,
  ...defaults,
  ...services,
  ...kinds,
  ...custom,
  ...wire
]
