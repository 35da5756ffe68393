/** The longest text that is shown at once. */
const longest = 200_000

/**
 * Returns a text from outside so that all of it can be seen: control characters, which terminals obey, and marks that turn the direction of writing
 * are shown by their code.
 */
export const visible = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are the characters that it is about
  text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, (sign) =>
    sign === '\r' ? '' : `\\u${sign.codePointAt(0)?.toString(16).padStart(4, '0')}`,
  )

interface TextOfDataProps {
  readonly label: string
  readonly value: unknown
}

/** A text or a JSON value from outside, as text alone: no markup, no links, no pictures. */
export function TextOfData({ label, value }: TextOfDataProps) {
  const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const text = whole ?? ''
  return (
    <>
      <pre className="text" tabIndex={0} aria-label={label}>
        {visible(text.slice(0, longest))}
      </pre>
      {text.length > longest && (
        <p className="hint">
          The first {longest.toLocaleString('en')} of {text.length.toLocaleString('en')} characters are shown.
        </p>
      )}
    </>
  )
}
