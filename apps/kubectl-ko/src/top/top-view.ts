import { Box, Text, useApp, useInput, useWindowSize } from 'ink'
import { createElement, useSyncExternalStore, type ReactElement } from 'react'
import type { StatusView } from '../view/status-view.ts'
import { screenOf, type Tone } from './screen.ts'

/** What is shown, and when it has changed. */
export interface LiveView {
  readonly current: () => StatusView | undefined
  readonly subscribe: (listener: () => void) => () => void
}

const styles: Record<
  Tone,
  { readonly color?: string; readonly bold?: boolean; readonly dimColor?: boolean }
> = {
  title: { bold: true },
  plain: {},
  bad: { color: 'red' },
  good: { color: 'green' },
  quiet: { dimColor: true },
}

/** The state, as large as the terminal is. */
export function TopView({
  live,
  isColoured,
}: {
  readonly live: LiveView
  readonly isColoured: boolean
}): ReactElement {
  const view = useSyncExternalStore(live.subscribe, live.current)
  const { exit } = useApp()
  const { rows } = useWindowSize()
  useInput((input) => {
    if (input === 'q') exit()
  })
  // The last line of a terminal stays free, or it scrolls.
  const lines = view === undefined ? [] : screenOf(view, rows - 2)
  return createElement(
    Box,
    { flexDirection: 'column' },
    createElement(Text, { key: 'head', dimColor: true, wrap: 'truncate' }, 'kubectl ko top   q quits'),
    ...(view === undefined ? [createElement(Text, { key: 'wait' }, 'reading…')] : []),
    ...lines.map(({ text, tone }, index) =>
      createElement(
        Text,
        { key: String(index), wrap: 'truncate', ...styles[isColoured || tone === 'title' ? tone : 'plain'] },
        text === '' ? ' ' : text,
      ),
    ),
  )
}
