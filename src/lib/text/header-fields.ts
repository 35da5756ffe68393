import { z } from 'zod'

export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/, 'This is not a header name.')

export const headerValue = z
  .string()
  .max(8192)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'This is not a header value.')

/** Headers for the destination and the end of a message: its sender makes them. */
const ofTheSender = /^(?:host|connection|keep-alive|transfer-encoding|content-length|te|trailer|upgrade|expect|proxy-.*)$/i

/** The name of a header that is to be sent along. */
export const sentHeaderName = headerName.refine((name) => !ofTheSender.test(name), 'This header is set by the gateway.')
