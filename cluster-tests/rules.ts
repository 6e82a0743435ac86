/** The manifest's rules in two parts: those that grids need, and those that the loop over sites needs besides. */
import { ROLES, type Roles, type Rule } from "./accounts.ts"

const isOfSites = ({ apiGroups, resources, verbs }: Rule): boolean =>
  apiGroups.includes("site.superedge.io") || (resources.includes("nodes") && verbs.includes("patch"))

/** Enough for a controller with `--sites off`. */
export const GRID_ROLES: Roles = {
  cluster: ROLES.cluster.filter((rule) => !isOfSites(rule)),
  own: ROLES.own
}

/** What `--sites on` adds. */
export const SITE_RULES: readonly Rule[] = ROLES.cluster.filter(isOfSites)
