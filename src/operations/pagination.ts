/** The member `pagination` of every page; a type alone, so that programs that import the library see nothing of the engine. */
export interface Pagination {
  limit: number;
  offset: number;
  /** Entries on this page. */
  returned: number;
  /** Entries of all pages; exact. */
  total: number;
  has_more: boolean;
  next_offset: number | null;
}
