import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './paths.mjs'

/**
 * Says whether the files that match `patterns` are what they were when the stamp was written.
 *
 * @param {string} stamp path of the stamp
 * @param {readonly string[]} patterns paths below the checkout in which a `*` stands for one path element
 */
export function isUpToDate(stamp, patterns) {
  try {
    return readFileSync(stamp, 'utf8') === digest(patterns)
  } catch {
    return false
  }
}

/**
 * Remembers the present content of the files that match `patterns`.
 *
 * @param {string} stamp
 * @param {readonly string[]} patterns
 */
export function writeStamp(stamp, patterns) {
  writeFileSync(stamp, digest(patterns))
}

function digest(patterns) {
  const hash = createHash('sha256')
  for (const path of patterns.flatMap((pattern) => expand(pattern.split('/')))) {
    hash.update(`${path}\n`)
    hash.update(readFileSync(join(repository, path)))
  }
  return hash.digest('hex')
}

function expand(elements, base = '') {
  const [head, ...rest] = elements
  if (head === undefined) return exists(base) ? [base] : []
  if (head !== '*') return expand(rest, join(base, head))
  return directoriesOf(base).flatMap((name) => expand(rest, join(base, name)))
}

function directoriesOf(path) {
  try {
    return readdirSync(join(repository, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
      .sort()
  } catch {
    return []
  }
}

function exists(path) {
  try {
    readFileSync(join(repository, path))
    return true
  } catch {
    return false
  }
}
