import { check, verdict } from '../check.ts'
import { calledUrl, headersField, jsonCall, toldOf } from './webhook.ts'

/** Reports to a service of the operator's own. */
export const log = check({
  id: 'default.log',
  title: 'Log',
  about: 'Posts the request and the answer to a URL, and always passes.',
  phases: ['output'],
  reads: 'request',
  timeoutMs: 5000,
  secrets: ['headers'],
  urls: ['logURL'],
  fields: { logURL: calledUrl.meta({ description: 'The URL.' }), headers: headersField },
  ready: ({ logURL: url, headers }) => ({
    judgesPrefix: false,
    async run(subject, { egress, timeoutMs }) {
      const body = JSON.stringify(toldOf(subject))
      const told = { url, method: 'POST', headers: jsonCall(headers), body, timeoutMs } as const
      const status = await egress.exchange(told).then(
        (answered) => answered.status,
        () => null,
      )
      return verdict(true, status === null ? 'The log could not be sent.' : `The log was sent, and answered with ${status}.`)
    },
  }),
})
