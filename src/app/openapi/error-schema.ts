/** The body of every error of the control plane, and of the data plane in the OpenAI dialect. */
export const errorSchema = {
  type: 'object',
  description: 'What went wrong, which field, and the id to quote.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code', 'request_id'],
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        param: { type: ['string', 'null'] },
        code: { type: 'string' },
        request_id: { type: 'string' },
      },
    },
  },
} as const
