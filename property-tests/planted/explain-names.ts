/** Bugs planted in what names are given to whom, in what is said of it, and in who is told that a name is taken. */
import type { Mutant } from "./mutant.ts"

const ORACLE = ["names-oracle"]
const EXPLAINED = ["explain-name", "names-oracle"]
const RIVALS = ["rivals"]

export const explainNames: readonly Mutant[] = [
  {
    name: "a name is given by a set of a former key",
    file: "src/core/own-sets.ts",
    from: 'grid.gridKey === set.gridKey ? "Grid" : "OtherKey"',
    to: '"Grid"',
    caughtBy: ORACLE
  },
  {
    name: "a name that a pod bears is given to another",
    file: "src/core/names.ts",
    from: "hosts.has(host)",
    to: "host === ''",
    caughtBy: ORACLE
  },
  {
    name: "a name is explained by a Service that isn't there",
    file: "src/core/explain-name.ts",
    from: "service === undefined ? [] : (byService(",
    to: "service === null ? [] : (byService(",
    caughtBy: ORACLE
  },
  {
    name: "a name is explained without the pod that bears it",
    file: "src/core/explain-name.ts",
    from: "const pods = told ? [] : podRows(scene)",
    to: "const pods: NameRow[] = []",
    caughtBy: EXPLAINED
  },
  {
    name: "a name is taken by a set in another Service",
    file: "src/core/rivals.ts",
    from: "serviceName === rival.serviceName",
    to: "serviceName !== ''",
    caughtBy: RIVALS
  },
  {
    name: "a name is said to be taken for ever",
    file: "src/shell/observed.ts",
    from: 'standing(grid, "ShortNames") !== undefined',
    to: "grid === undefined",
    caughtBy: RIVALS
  },
  {
    name: "a name that is taken is forgotten while sets aren't known",
    file: "src/core/status.ts",
    from: "before === undefined ? [] : [before]",
    to: "before === undefined ? [] : []",
    caughtBy: RIVALS
  }
]
