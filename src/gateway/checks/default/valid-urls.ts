import { z } from 'zod'
import { check, notField, textOf, verdict, type CheckContext } from '../check.ts'

/** A text of links must not make us call the whole world. */
const maxUrls = 20
const links = /https?:\/\/[^\s<>"'`)\]}]{1,2000}/gi

/** Checks whether links lead anywhere. */
export const validUrls = check({
  id: 'default.validUrls',
  title: 'Valid URLs',
  about: `Passes when every link in the answer (the first ${maxUrls} are tried) leads to a page, or with \`onlyDNS\` to a host. Private hosts are never called.`,
  phases: ['output'],
  timeoutMs: 5000,
  fields: { onlyDNS: z.boolean().default(false).meta({ description: 'Only look the hosts up, which is quicker.' }), not: notField },
  ready: ({ onlyDNS, not }) => ({
    judgesPrefix: false,
    async run(subject, context) {
      const urls = [...new Set(textOf(subject).match(links))].slice(0, maxUrls).map(withoutPunctuation)
      if (urls.length === 0) return verdict(!not, 'There are no links.', { not })
      const valid = await Promise.all(urls.map((url) => (onlyDNS ? context.egress.resolves(url) : leadsSomewhere(url, context))))
      const invalidUrls = urls.filter((_, at) => valid[at] !== true)
      return verdict((invalidUrls.length === 0) !== not, `${invalidUrls.length} of ${urls.length} links lead nowhere.`, {
        invalidUrls,
        not,
      })
    },
  }),
})

/** A link at the end of a sentence is followed by punctuation that is no part of it. */
function withoutPunctuation(url: string): string {
  let end = url.length
  while (end > 0 && '.,;:!?'.includes(url.charAt(end - 1))) end -= 1
  return url.slice(0, end)
}

async function leadsSomewhere(url: string, { egress, timeoutMs }: CheckContext): Promise<boolean> {
  try {
    const { status } = await egress.exchange({ url, method: 'GET', headers: { accept: '*/*' }, timeoutMs })
    return status < 400
  } catch {
    return false
  }
}
