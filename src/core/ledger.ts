/**
 * The annotation's texts in one pass: read and made once for all nodes that have the same.
 */
import type { Bundle } from "./bundle.ts"
import { type Before, before, type Given, givenText, taintText } from "./given.ts"

const nothing = before(undefined)

export class Ledger {
  readonly #read = new Map<string, Before>()
  readonly #written = new Map<Bundle, Map<string, string | undefined>>()

  /** What the text says. */
  read(text: string | undefined): Before {
    if (text === undefined) return nothing
    let known = this.#read.get(text)
    if (known === undefined) this.#read.set(text, (known = before(text)))
    return known
  }

  /** The text for those taints of a bundle, by key and effect, and the cordon that are on a node because of us. */
  write(bundle: Bundle, taints: readonly string[], cordoned: boolean): string | undefined {
    if (taints.length === 0 && !cordoned) return undefined
    const key = `${taints.join(" ")} ${cordoned}`
    const known = this.#written.get(bundle) ?? new Map<string, string | undefined>()
    this.#written.set(bundle, known)
    if (!known.has(key)) known.set(key, givenText(gave(bundle, taints, cordoned)))
    return known.get(key)
  }
}

const gave = (bundle: Bundle, taints: readonly string[], cordoned: boolean): ReadonlyMap<string, Given> => {
  const found = new Map<string, { readonly taints: string[]; readonly unschedulable: boolean }>()
  if (cordoned) for (const unit of bundle.cordoning) found.set(unit, { taints: [], unschedulable: true })
  for (const id of taints) {
    const wish = bundle.taints.get(id)
    for (const { site } of wish?.by ?? []) {
      const written = wish === undefined ? "" : taintText(wish.value)
      const known = found.get(site.name)
      if (known === undefined) found.set(site.name, { taints: [written], unschedulable: false })
      else known.taints.push(written)
    }
  }
  return found
}
