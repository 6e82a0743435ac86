/** Bugs planted in what units and groups make of nodes. */
import type { Mutant } from "./mutant.ts"

const PATCH = ["node-patch", "sites"]
const BOTH = ["sites-cases", "sites"]

export const sites: readonly Mutant[] = [
  {
    name: "a site takes a label that someone else applied as well",
    file: "src/core/site-node.ts",
    from: "keys.filter((key) => !theirs.some((other) => other[place].includes(key)))",
    to: "keys",
    caughtBy: ["node-patch"]
  },
  {
    name: "a site overwrites a label of someone else",
    file: "src/core/node-patch.ts",
    from: "(node.ours[place].has(key) && !spared.has(key))",
    to: "!spared.has(key)",
    caughtBy: PATCH
  },
  {
    name: "a site keeps labels that no unit gives any more",
    file: "src/core/node-patch.ts",
    from: "!wishes.has(key) && !spared.has(key))",
    to: "false)",
    caughtBy: PATCH
  },
  {
    name: "a site takes a taint that someone set to another value",
    file: "src/core/node-spec.ts",
    from: "const mine = before.taints.get(id) === value",
    to: "const mine = before.taints.has(id)",
    caughtBy: PATCH
  },
  {
    name: "a site claims a taint that was there before",
    file: "src/core/node-spec.ts",
    from: "      list.push(each as Taint)\n      if (wish !== undefined &&",
    to: "      list.push(each as Taint)\n      if (wish !== undefined) ours.push(id)\n      if (wish !== undefined &&",
    caughtBy: PATCH
  },
  {
    name: "a site frees a node that an administrator cordoned",
    file: "src/core/node-spec.ts",
    from: "ours: mine || !live",
    to: "ours: true",
    caughtBy: ["node-patch"]
  },
  {
    name: "a site frees a node that was freed and cordoned again",
    file: "src/core/node-spec.ts",
    from: "live && before.cordoned && !isOthers(node)",
    to: "live && before.cordoned",
    caughtBy: ["node-patch"]
  },
  {
    name: "a site's unit selects by what units gave",
    file: "src/core/site-node.ts",
    from: "return this.ours[place].has(key) ? undefined : this.at(place, key)",
    to: "return this.at(place, key)",
    caughtBy: PATCH
  },
  {
    name: "a site's empty selector selects all nodes",
    file: "src/core/site-selector.ts",
    from: "if (requirements.length === 0) return []\n",
    to: "if (requirements.length === 0) return this.#nodes\n",
    caughtBy: ["sites-cases", "site-selector"]
  },
  {
    name: "a site's younger unit wins",
    file: "src/core/site.ts",
    from: "byText(a.born, b.born) || byText(b.kind",
    to: "byText(b.born, a.born) || byText(b.kind",
    caughtBy: BOTH
  },
  {
    name: "a site's group label goes to the older unit at once",
    file: "src/core/bundle.ts",
    from: "units.find(({ name }) => name === live(group.name)) ?? units[0]",
    to: "units[0]",
    caughtBy: BOTH
  },
  {
    name: "a site's unit goes before its nodes are clean",
    file: "src/core/release.ts",
    from: "if (value !== undefined) found.push(key, value, `label ${key}=${value}`)",
    to: "if (value === undefined) found.push(key)",
    caughtBy: BOTH
  },
  {
    name: "a site whose selector can't be read loses its nodes",
    file: "src/core/membership.ts",
    from: "members: new Set(had), refused: [read]",
    to: "refused: [read]",
    caughtBy: ["moves"]
  },
  {
    name: "a site's confirmation holds for every generation",
    file: "src/core/site.ts",
    from: "confirmed: own(annotations, CONFIRMED) === String(said)",
    to: "confirmed: own(annotations, CONFIRMED) !== undefined",
    caughtBy: ["moves"]
  },
  {
    name: "a site deletes units that it found although the edit is held",
    file: "src/core/places.ts",
    from: ".filter(({ unit, group }) => group.deleting || (!held.has(unit) && !held.has(group)))",
    to: "",
    caughtBy: ["moves"]
  },
  {
    name: "a site takes a unit for its own by name",
    file: "src/core/found-units.ts",
    from: '(holder.kind !== "NodeUnit" || o.maker(holder) !== group)',
    to: 'holder.kind !== "NodeUnit"',
    caughtBy: ["found-units"]
  },
  {
    name: "a site's found names run into each other",
    file: "src/core/found-units.ts",
    from: 'values.length === 1 || values.every((value) => !value.includes("-"))',
    to: "true",
    caughtBy: ["found-units"]
  },
  {
    name: "a site's refused entry is taken from nodes",
    file: "src/core/gifts.ts",
    from: '      spared.labels.add(key)\n      refuse("InvalidLabel", path, wrong)',
    to: '      refuse("InvalidLabel", path, wrong)',
    caughtBy: ["gifts"]
  },
  {
    name: "a site's labels have no owner on a node of nobody",
    file: "src/core/node-patch.ts",
    from: "...(!node.tracked && ownedBy(labels, annotations)),",
    to: "",
    caughtBy: ["node-patch", "sites", "sites-served"]
  },
  {
    name: "a site's roster claims what others gave",
    file: "src/core/carried.ts",
    from: 'same ? (isOurs ? "Given" : "Shared")',
    to: 'same ? (isOurs ? "Given" : "Given")',
    caughtBy: ["roster"]
  },
  {
    name: "a site's roster counts a node of two units twice",
    file: "src/core/roster.ts",
    from: "nodes: members.size,",
    to: "nodes: held.reduce((sum, unit) => sum + (places.nodesOf.get(unit)?.size ?? 0), 0),",
    caughtBy: ["roster"]
  }
]
