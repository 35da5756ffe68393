import { TextInput } from '@mantine/core'

interface SearchBoxProps {
  readonly text: string
  readonly onChange: (text: string) => void
}

/** The filter of a list by name. */
export const SearchBox = ({ text, onChange }: SearchBoxProps) => (
  <div role="search" aria-label="Filter">
    <TextInput aria-label="Filter" placeholder="Name" value={text} onChange={(event) => onChange(event.currentTarget.value)} />
  </div>
)
