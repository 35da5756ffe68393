/**
 * The shapes of secrets that others' messages may carry: provider and AWS keys, our own, JWTs, bearer values, PEM blocks, URL logins.
 * No shape begins twice within one run of its characters, so that no text takes longer than its length.
 */
const secretShapes =
  /\b(?:sk|pk|rk|gh|gsk|xai|hf|r8|key)[-_][A-Za-z0-9_-]{12,}|\bA(?:KIA|SIA)[A-Z0-9]{12,}|\bAIza[\w-]{30,}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}|-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)|(?<=:\/\/)[^/?#\s"'<>\\]+(?=@)/g

/** The text with everything that looks like a credential replaced, for messages that we did not write ourselves. */
export const scrubSecrets = (text: string): string => text.replaceAll(secretShapes, '[secret]')

/** `user:password` at the begin of a value, where a URL without its scheme was given. */
const login = /(?<=^|")[^\s":/@]+:[^\s"/@]+(?=@)/g

/** The same of a value that a message about it quotes. */
export const scrubValue = (text: string): string => scrubSecrets(text).replaceAll(login, '[secret]')
