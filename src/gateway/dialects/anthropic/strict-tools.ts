import type { Fields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import type { FunctionTool } from '../neutral/request.ts'
import { objectSchema } from '../object-schema.ts'
import { heldSchema } from './held-schema.ts'

interface Strictness {
  /** True if the model can be held to the parameters of a tool. */
  readonly takesStrict: boolean
  readonly loss: Loss
}

/** Returns the parameters of a strict tool as Claude can be held to them; null: it is not, or cannot be. */
export function strictSchema(tool: FunctionTool, { takesStrict, loss }: Strictness): Fields | null {
  if (tool.strict !== true || !takesStrict) return null
  const held = heldSchema(objectSchema(tool, loss), { at: `${tool.at}.parameters`, loss })
  if (held === null) loss.dropAt(`${tool.at}.strict`, 'is asked for with a schema to which this model cannot be held')
  return held
}
