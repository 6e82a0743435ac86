/** An error in a person's words. */
export const why = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(why).join("; ")
  return error instanceof Error ? error.message : String(error)
}
