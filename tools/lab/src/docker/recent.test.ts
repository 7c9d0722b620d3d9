import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { markUsed, removeLeastRecent } from './recent.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'recent-'))
  for (const [name, hoursAgo] of Object.entries({ new: 0, young: 0.5, old: 2, older: 3, oldest: 4 })) {
    mkdirSync(join(directory, name))
    writeFileSync(join(directory, name, 'file'), '')
    const used = new Date(Date.now() - hoursAgo * 3600 * 1000)
    utimesSync(join(directory, name), used, used)
  }
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

it.each([
  [0, ['new', 'young']],
  [3, ['new', 'old', 'young']],
  [9, ['new', 'old', 'older', 'oldest', 'young']],
])('keeps %d, and what may be in use', (kept, want) => {
  removeLeastRecent(directory, kept)
  expect(readdirSync(directory).sort()).toEqual(want)
})

it('keeps what was used again', () => {
  markUsed(join(directory, 'oldest'))
  removeLeastRecent(directory, 3)
  expect(readdirSync(directory).sort()).toEqual(['new', 'oldest', 'young'])
})
