import { z } from 'zod'
import { isUuid } from '../../../lib/is-uuid.ts'

const fits = (schema: z.ZodType) => (text: string) => schema.safeParse(text).success

/** Longer than a host with a user may be: to bring marks of its letters into order takes the square of their number. */
const longHost = /^(?:https?|wss?|ftp|file):[/\\]*[^/\\?#]{301}/i

/** The formats that are checked; others are remarks, as the standard has it. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': fits(z.iso.datetime({ offset: true })),
  date: fits(z.iso.date()),
  time: (text) => /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/i.test(text),
  email: fits(z.email()),
  uuid: isUuid,
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && !longHost.test(text) && URL.canParse(text),
  ipv4: fits(z.ipv4()),
  ipv6: fits(z.ipv6()),
}
