import { p, TextType } from '@mikro-orm/core'

/** A text that is a secret, though it is not sealed at rest: the audit trail keeps no part of it. */
export class SecretTextType extends TextType {}

/** A column with such a text. */
export const secretText = () => p.type(SecretTextType).$type<string>()
