import { longestName, nameLikenesses, uriLikenesses } from './likenesses.ts'
import type { UriForm } from './uri-forms.ts'

/** Returns an address in a form as one text. */
export const uriText = ({ base, params }: UriForm): string => (params.length === 0 ? base : `${base}?${params.join('&')}`)

/** Returns the forms of the name of a tool or prompt, or of the address of a resource, where it is unknown which of them it is. */
export const thingForms = (name: string): readonly string[] => [...namesOf(name), ...addressesOf(name).map(uriText)]

/** Returns the forms of one that is asked for: readers may leave out the query of an address. */
export const askedForms = (name: string): readonly string[] => [...thingForms(name), ...addressesOf(name).map(({ base }) => base)]

const namesOf = (name: string): readonly string[] => {
  const forms = name.length > longestName ? [] : nameLikenesses(name).forms
  return forms.length === 0 ? [name] : forms
}

const addressesOf = (name: string): readonly UriForm[] =>
  name.length <= longestName && /^\s*(?:[a-z][\w+.-]*(?::|%3a)|[/\\])/i.test(name) ? uriLikenesses(name).forms : []
