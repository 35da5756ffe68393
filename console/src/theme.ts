import { createTheme, type MantineColorsTuple } from '@mantine/core'

// Shade 6 is the colour on light, shade 2 that on dark.
const accent: MantineColorsTuple = [
  '#eef1fd',
  '#d9e0fa',
  '#9db0ff',
  '#8ea4ff',
  '#6a82e6',
  '#4a63d4',
  '#2f4ac2',
  '#2640ad',
  '#1e3391',
  '#162670',
]
const danger: MantineColorsTuple = [
  '#fde7e5',
  '#fbd0cc',
  '#ff9a91',
  '#f08078',
  '#dd5c53',
  '#c7382f',
  '#b3261e',
  '#9c1f18',
  '#831812',
  '#68110c',
]

export const theme = createTheme({
  primaryColor: 'accent',
  colors: { accent, danger },
  primaryShade: { light: 6, dark: 2 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  defaultRadius: 4,
  fontFamily: 'system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  respectReducedMotion: true,
  components: {
    TextInput: { defaultProps: { size: 'sm' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    NativeSelect: { defaultProps: { size: 'sm' } },
    Checkbox: { defaultProps: { size: 'md' } },
    Radio: { defaultProps: { size: 'md' } },
    Switch: { defaultProps: { size: 'md' } },
    Button: { defaultProps: { size: 'xs' } },
  },
})
