// swift-format-ignore-file
// Written by scripts/embed-schemas from schemas/avro.

/// The Avro schemas of published records.
public enum OutputSchema {
    /// The schema of report rows.
    public static let reportRow = #"""
{
  "type": "record",
  "name": "ReportRow",
  "namespace": "tidemark.reports",
  "doc": "One row of the campaign report. A later record with the same key replaces it.",
  "fields": [
    {"name": "row", "type": "string", "doc": "message_day, campaign_day or campaign_total."},
    {
      "name": "channel",
      "type": "string",
      "doc": "push, in_app_message, content_card, banner, feature_flag or campaign."
    },
    {
      "name": "campaign_id",
      "type": ["null", "string"],
      "default": null,
      "doc": "The campaign; null for a canvas and for what belongs to neither."
    },
    {
      "name": "message_variation_id",
      "type": ["null", "string"],
      "default": null,
      "doc": "The variation of the campaign's message."
    },
    {
      "name": "canvas_id",
      "type": ["null", "string"],
      "default": null,
      "doc": "The canvas; null for a campaign and for what belongs to neither."
    },
    {"name": "canvas_variation_id", "type": ["null", "string"], "default": null, "doc": "The canvas variation."},
    {"name": "canvas_step_id", "type": ["null", "string"], "default": null, "doc": "The step of the canvas."},
    {
      "name": "platform",
      "type": ["null", "string"],
      "default": null,
      "doc": "Lower case, `unknown` where nothing tells; null where the row kind has no platform."
    },
    {
      "name": "day",
      "type": ["null", "string"],
      "default": null,
      "doc": "The calendar day in time_zone as YYYY-MM-DD; null in totals."
    },
    {"name": "time_zone", "type": ["null", "string"], "default": null, "doc": "The IANA zone of day; null in totals."},
    {
      "name": "campaign_name",
      "type": ["null", "string"],
      "default": null,
      "doc": "The last name of campaign_id by event order; null when none is known or the id is null."
    },
    {
      "name": "message_variation_name",
      "type": ["null", "string"],
      "default": null,
      "doc": "The last name of message_variation_id by event order; null when none is known or the id is null."
    },
    {
      "name": "canvas_name",
      "type": ["null", "string"],
      "default": null,
      "doc": "The last name of canvas_id by event order; null when none is known or the id is null."
    },
    {
      "name": "canvas_variation_name",
      "type": ["null", "string"],
      "default": null,
      "doc": "The last name of canvas_variation_id by event order; null when none is known or the id is null."
    },
    {
      "name": "canvas_step_name",
      "type": ["null", "string"],
      "default": null,
      "doc": "The last name of canvas_step_id by event order; null when none is known or the id is null."
    },
    {
      "name": "attribution",
      "doc": "The rules that the row was counted by.",
      "type": {
        "type": "record",
        "name": "Attribution",
        "fields": [
          {"name": "model", "type": "string", "doc": "Which pushes an app open credits: last_push or all_recent."},
          {"name": "window", "type": "string", "doc": "Which attribution window counts: longer, shorter or fixed."},
          {"name": "rules", "type": "int", "doc": "Version of the attribution rules."}
        ]
      }
    },
    {
      "name": "metrics",
      "doc": "The metrics of the channel, zero or not; those of other channels are null.",
      "type": {
        "type": "record",
        "name": "Metrics",
        "fields": [
          {
            "name": "sends",
            "type": ["null", "long"],
            "default": null,
            "doc": "Push: notifications handed to the provider. Content cards: cards created."
          },
          {
            "name": "bounces",
            "type": ["null", "long"],
            "default": null,
            "doc": "Notifications that the provider refused."
          },
          {
            "name": "deliveries",
            "type": ["null", "long"],
            "default": null,
            "doc": "sends - bounces. Below zero on a day to which bounces of an earlier day belong."
          },
          {
            "name": "direct_opens",
            "type": ["null", "long"],
            "default": null,
            "doc": "Opens by pressing the notification or one of its buttons, close-like buttons excepted."
          },
          {
            "name": "influenced_opens",
            "type": ["null", "long"],
            "default": null,
            "doc": "App opens without a press that fall into the user's attribution window after a push."
          },
          {"name": "total_opens", "type": ["null", "long"], "default": null, "doc": "direct_opens + influenced_opens."},
          {
            "name": "body_clicks",
            "type": ["null", "long"],
            "default": null,
            "doc": "Clicks on, or presses of, the message itself."
          },
          {
            "name": "button_clicks",
            "type": ["null", {"type": "map", "values": "long"}],
            "default": null,
            "doc": "Clicks by button; those without any are left out."
          },
          {
            "name": "ios_foregrounds",
            "type": ["null", "long"],
            "default": null,
            "doc": "Notifications that arrived while the iOS app was in the foreground."
          },
          {
            "name": "aborts",
            "type": ["null", "long"],
            "default": null,
            "doc": "Messages dropped before they were sent or shown."
          },
          {
            "name": "retries",
            "type": ["null", "long"],
            "default": null,
            "doc": "Notifications put off to a later try."
          },
          {
            "name": "unique_recipients",
            "type": ["null", "long"],
            "default": null,
            "doc": "Distinct users who were sent a push, or saw a content card."
          },
          {
            "name": "unique_direct_opens",
            "type": ["null", "long"],
            "default": null,
            "doc": "Distinct users with a direct open."
          },
          {
            "name": "unique_influenced_opens",
            "type": ["null", "long"],
            "default": null,
            "doc": "Distinct users with an influenced open."
          },
          {
            "name": "unique_opens",
            "type": ["null", "long"],
            "default": null,
            "doc": "Distinct users with an open of either kind."
          },
          {
            "name": "bounces_by_send_time",
            "type": ["null", "long"],
            "default": null,
            "doc": "Bounces, counted on the day and in the row of the first send of their instance."
          },
          {
            "name": "direct_opens_by_send_time",
            "type": ["null", "long"],
            "default": null,
            "doc": "Direct opens, counted on the day and in the row of the first send of their instance."
          },
          {
            "name": "influenced_opens_by_send_time",
            "type": ["null", "long"],
            "default": null,
            "doc": "Influenced opens, counted on the day and in the row of the first send of their instance."
          },
          {"name": "impressions", "type": ["null", "long"], "default": null, "doc": "Times that the message was seen."},
          {"name": "clicks", "type": ["null", "long"], "default": null, "doc": "Clicks on the body or a button."},
          {"name": "first_button_clicks", "type": ["null", "long"], "default": null, "doc": "Clicks on button \"0\"."},
          {"name": "second_button_clicks", "type": ["null", "long"], "default": null, "doc": "Clicks on button \"1\"."},
          {
            "name": "unique_impressions",
            "type": ["null", "long"],
            "default": null,
            "doc": "Distinct users with an impression."
          },
          {"name": "unique_clicks", "type": ["null", "long"], "default": null, "doc": "Distinct users with a click."},
          {
            "name": "dismissals",
            "type": ["null", "long"],
            "default": null,
            "doc": "Times that the message was dismissed."
          },
          {
            "name": "unique_dismissals",
            "type": ["null", "long"],
            "default": null,
            "doc": "Distinct users with a dismissal."
          },
          {
            "name": "conversions",
            "type": ["null", "long"],
            "default": null,
            "doc": "Conversions by the first conversion event (behaviour index 0 or none)."
          },
          {
            "name": "conversions1",
            "type": ["null", "long"],
            "default": null,
            "doc": "Conversions by the second conversion event."
          },
          {
            "name": "conversions2",
            "type": ["null", "long"],
            "default": null,
            "doc": "Conversions by the third conversion event."
          },
          {
            "name": "conversions3",
            "type": ["null", "long"],
            "default": null,
            "doc": "Conversions by the fourth conversion event."
          },
          {
            "name": "enrolled",
            "type": ["null", "long"],
            "default": null,
            "doc": "Users put into a control group: of a campaign, or on entering a canvas."
          },
          {
            "name": "entries",
            "type": ["null", "long"],
            "default": null,
            "doc": "Entries into a canvas, those of its control group included."
          },
          {
            "name": "unique_conversions",
            "type": ["null", "long"],
            "default": null,
            "doc": "Distinct users with a conversion by the first conversion event."
          }
        ]
      }
    },
    {"name": "revision", "type": "long", "doc": "Grows with each published version of the row."},
    {
      "name": "as_of",
      "type": "long",
      "doc": "Greatest accepted event time known at publication, in seconds since 1970 UTC."
    }
  ]
}
"""#
    /// The schema of open records.
    public static let open = #"""
{
  "type": "record",
  "name": "Open",
  "namespace": "tidemark.reports",
  "doc": "One open that stands now. A later record with the same key replaces it, a null value withdraws it.",
  "fields": [
    {
      "name": "kind",
      "type": "string",
      "doc": "direct (the notification was pressed) or influenced (the app was opened within the attribution window after it)."
    },
    {
      "name": "id",
      "type": "string",
      "doc": "Direct: the id of the Open event. Influenced: made from the user, the first send of the instance and the app open, the same in every run."
    },
    {"name": "event_type", "type": "string", "doc": "The type of event that the open is."},
    {"name": "user_id", "type": "string", "doc": "The user."},
    {
      "name": "external_user_id",
      "type": ["null", "string"],
      "default": null,
      "doc": "The user's external id, where known."
    },
    {
      "name": "campaign_id",
      "type": ["null", "string"],
      "default": null,
      "doc": "The campaign; null for a canvas and for what belongs to neither."
    },
    {
      "name": "message_variation_id",
      "type": ["null", "string"],
      "default": null,
      "doc": "The variation of the campaign's message."
    },
    {
      "name": "canvas_id",
      "type": ["null", "string"],
      "default": null,
      "doc": "The canvas; null for a campaign and for what belongs to neither."
    },
    {"name": "canvas_variation_id", "type": ["null", "string"], "default": null, "doc": "The canvas variation."},
    {"name": "canvas_step_id", "type": ["null", "string"], "default": null, "doc": "The step of the canvas."},
    {
      "name": "app_id",
      "type": ["null", "string"],
      "default": null,
      "doc": "The app of the Open, or of the credited send."
    },
    {
      "name": "platform",
      "type": ["null", "string"],
      "default": null,
      "doc": "Platform of the Open, or of the credited send, in lower case."
    },
    {"name": "time", "type": "long", "doc": "When the app was opened, in seconds since 1970 UTC."},
    {
      "name": "send_time",
      "type": ["null", "long"],
      "default": null,
      "doc": "Time of the first send of the direct open's instance, or of the credited send."
    },
    {"name": "send_event_id", "type": ["null", "string"], "default": null, "doc": "Id of the event of that send."},
    {
      "name": "session_id",
      "type": ["null", "string"],
      "default": null,
      "doc": "Influenced: the session of the app open."
    },
    {
      "name": "window_seconds",
      "type": ["null", "double"],
      "default": null,
      "doc": "Influenced: the attribution window that the open fell into."
    },
    {"name": "model", "type": ["null", "string"], "default": null, "doc": "Influenced: the credit model."}
  ]
}
"""#
}
