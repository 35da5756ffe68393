import type { BlockEnd, BlockStart } from '../neutral/events.ts'
import { unsignedMark, writeSignature } from '../neutral/signature.ts'
import { urlOfMedia } from '../media.ts'

/** Writes a block as it begins; null: it has no counterpart. */
export function writeStart(block: BlockStart): object | null {
  if (block.kind === 'reasoning') return { type: 'thinking', thinking: '', signature: '' }
  if (block.kind === 'tool-call') return { type: 'tool_use', id: block.id, name: block.name, input: {} }
  if (block.kind === 'opaque') return isOwn(block.type) ? block.raw : null
  return { type: 'text', text: '', citations: null }
}

/** Blocks of tools that run at Anthropic. */
const isOwn = (type: string): boolean =>
  /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|\w+_tool_result|container_upload|compaction)$/.test(type)

/** Returns the text that stands for media, of which a message has none. */
export const mediaText = (block: BlockStart): string => {
  if (block.kind !== 'media') return ''
  const url = urlOfMedia(block.source)
  return url === null ? '' : `![${block.media}](${url})`
}

/** Returns the signature of reasoning as a client keeps it. */
export const signatureText = ({ signature }: BlockEnd): string =>
  signature === null ? unsignedMark : writeSignature(signature, 'anthropic')
