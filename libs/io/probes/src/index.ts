export { announceAddresses, type Announcement } from './announcement.ts'
