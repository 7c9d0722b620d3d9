/** What a terminal shows is drawn in these. */
const cell = { width: 8.4, height: 18 } as const
const padding = 16
const colours: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  36: '#79c0ff',
}

const escape = new RegExp(String.raw`\x1b\[([\d;]*)m`)

interface Style {
  readonly colour?: string
  readonly isBold?: boolean
  readonly isDim?: boolean
}

/** Draws what `tmux capture-pane -e` says is in a terminal, as an SVG. */
export function drawTerminal(
  captured: string,
  { columns, rows, title }: { readonly columns: number; readonly rows: number; readonly title: string },
): string {
  const [width, height] = [columns * cell.width + 2 * padding, rows * cell.height + 2 * padding]
  let style: Style = {}
  const lines = captured
    .split('\n')
    .slice(0, rows)
    .flatMap((line, row) => {
      let column = 0
      const spans: string[] = []
      // Escape sequences and what is between them, in turn.
      for (const [index, part] of line.split(escape).entries()) {
        if (index % 2 === 1) {
          style = styled(style, part)
          continue
        }
        if (part.trim() !== '') spans.push(span(part, column, row, style))
        column += part.length
      }
      return spans
    })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>`,
    '<g font-family="ui-monospace, &quot;DejaVu Sans Mono&quot;, monospace" font-size="14" fill="#e6edf3" xml:space="preserve">',
    ...lines,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function styled(style: Style, codes: string): Style {
  return (codes === '' ? '0' : codes)
    .split(';')
    .map(Number)
    .reduce((now, code): Style => {
      if (code === 0) return {}
      if (code === 1) return { ...now, isBold: true }
      if (code === 2) return { ...now, isDim: true }
      if (code === 22) return colourOf(now)
      if (code === 39) return withoutColour(now)
      const colour = colours[code]
      return colour === undefined ? now : { ...now, colour }
    }, style)
}

function colourOf({ colour }: Style): Style {
  return colour === undefined ? {} : { colour }
}

function withoutColour({ isBold = false, isDim = false }: Style): Style {
  return { isBold, isDim }
}

function span(content: string, column: number, row: number, { colour, isBold, isDim }: Style): string {
  const start = content.length - content.trimStart().length
  const shown = content.trim()
  const x = (padding + (column + start) * cell.width).toFixed(1)
  const y = padding + (row + 0.75) * cell.height
  const look = [
    colour === undefined ? '' : ` fill="${colour}"`,
    isBold === true ? ' font-weight="bold"' : '',
    isDim === true ? ' opacity="0.6"' : '',
  ].join('')
  return `<text x="${x}" y="${y}" textLength="${(shown.length * cell.width).toFixed(1)}"${look}>${escaped(shown)}</text>`
}

function escaped(content: string): string {
  return content.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
