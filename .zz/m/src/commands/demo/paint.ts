/** Colours of a terminal, or none. */
import { styleText } from "node:util"

type Style = (text: string) => string

export interface Paint {
  readonly bold: Style
  readonly dim: Style
  readonly green: Style
  readonly yellow: Style
  readonly cyan: Style
}

const style = (format: "bold" | "dim" | "green" | "yellow" | "cyan"): Style => {
  return (text) => styleText(format, text, { validateStream: false })
}

export const coloured: Paint = {
  bold: style("bold"),
  dim: style("dim"),
  green: style("green"),
  yellow: style("yellow"),
  cyan: style("cyan")
}

const asItIs: Style = (text) => text

export const plain: Paint = { bold: asItIs, dim: asItIs, green: asItIs, yellow: asItIs, cyan: asItIs }
