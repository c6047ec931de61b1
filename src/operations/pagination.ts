/** Member `pagination` of every page. The type is alone here, so that importers of the library see nothing of the engine. */
export interface Pagination {
  limit: number;
  offset: number;
  /** Entries on this page. */
  returned: number;
  /** Entries on all pages; exact. */
  total: number;
  has_more: boolean;
  next_offset: number | null;
}
