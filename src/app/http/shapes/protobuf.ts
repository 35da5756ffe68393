import type { ProtobufShape } from '../../answer-shapes.ts'
import { isProtobuf, protobufType } from '../routes/body.ts'
import { jsonShape } from './json.ts'
import type { Shape } from './shape.ts'

/** Answers in the format of the request. */
export const protobufShape = (codec: ProtobufShape): Shape => ({
  ...jsonShape,
  formats: { protobuf: codec },
  async write(ctx, result) {
    await jsonShape.write(ctx, result)
    if (!isProtobuf(ctx)) return
    ctx.body = Buffer.from(codec.write(result.answer))
    ctx.type = protobufType
  },
})
