import { issueCodes } from '../../lib/issue.ts'

/** The body of every error of the control plane, and of the data plane in the OpenAI dialect. */
export const errorSchema = {
  type: 'object',
  description: 'The fault, the field, and the id to quote.',
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
        issues: {
          type: 'array',
          description:
            'With the status 400: every fault of the request that was found, of which `param` names the first; at most a few hundred.',
          items: {
            type: 'object',
            required: ['param', 'code', 'message'],
            properties: { param: { type: 'string' }, code: { type: 'string', enum: issueCodes }, message: { type: 'string' } },
          },
        },
        used_by: {
          type: 'array',
          description: 'With the code `AB07`: the dependants of the resource; at most 100.',
          items: { $ref: '#/components/schemas/Dependant' },
        },
        feature: {
          type: 'object',
          description: 'With the code `feature_unavailable`: the feature, the setting that turns it off, and the release that brings it.',
          properties: { id: { type: ['string', 'null'] }, flag: { type: ['string', 'null'] }, release: { type: ['string', 'null'] } },
        },
      },
    },
  },
} as const
