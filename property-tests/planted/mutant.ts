/** A planted bug: one small change of one file. */
export interface Mutant {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
  /** names of test files without their ending, the likeliest first */
  readonly caughtBy: readonly string[]
}
