/** Lists in sentences. */

/** The first of some names, ten unless told otherwise, and how many more there are. */
export const naming = (all: readonly string[], most = 10): string => {
  const rest = all.length - most
  return all.slice(0, most).join(", ") + (rest > 0 ? ` and ${rest} more` : "")
}
