import { z } from 'zod'
import { partner } from './partner.ts'
import { key, messagesOf } from './words.ts'

const greetings = ['Casual & Friendly', 'Professional & Polite'] as const
const personal = ["Person's Name", 'Address', 'Email Id', 'Contact No', 'Date Of Birth', 'Unique Id', 'Financial Data'] as const
const present = z.array(z.looseObject({ isPresent: z.boolean().nullish(), pii_type: z.string().nullish() })).nullish()

/** Safety of a conversation. */
export const walledProtect = partner({
  id: 'walledai.walledprotect',
  title: 'Walled AI',
  about: 'Fails when the conversation is not safe.',
  since: '1.6.1',
  basis: 'documented',
  fields: {
    generic_safety_check: z
      .union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')])
      .default(true)
      .meta({ description: 'Whether safety in general is judged.' }),
    greetings_list: z.array(z.enum(greetings)).default(['Casual & Friendly']).meta({ description: 'Greetings that are looked for.' }),
    pii_list: z
      .array(z.enum(personal))
      .default([...personal])
      .meta({ description: 'Personal data that is looked for.' }),
    compliance_list: z.array(z.string().min(1).max(255)).max(100).default([]).meta({ description: 'Topics that are looked for.' }),
  },
  credentials: { apiKey: key },
  secrets: ['apiKey'],
  takes: 'all',
  service: () => 'https://services.walled.ai',
  sign: ({ apiKey }) => ({ 'x-api-key': apiKey }),
  call: ({ parameters: { generic_safety_check, greetings_list, pii_list, compliance_list }, subject }) => ({
    path: '/v1/walled-protect',
    body: { text: messagesOf(subject), generic_safety_check, greetings_list, pii_list, compliance_list },
  }),
  answer: z.looseObject({
    data: z.looseObject({ safety: z.array(z.looseObject({ safety: z.string().nullish(), isSafe: z.boolean() })).nullish(), pii: present }),
  }),
  find({ data: { safety, pii } }) {
    const unsafe = (safety ?? []).filter(({ isSafe }) => !isSafe).map(({ safety: name }) => name ?? 'generic')
    return {
      passed: unsafe.length === 0,
      data: { unsafe, pii: (pii ?? []).flatMap((one) => (one.isPresent === true ? [one.pii_type ?? ''] : [])) },
    }
  },
})
